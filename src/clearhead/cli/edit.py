"""`clearhead edit`: change something inside a model while it runs, and see what comes of it.

Takes: texts, or a file of texts with or without references; a model; edits by name.
Gives: the text before and after, probabilities that moved; over a file how many texts changed, and BLEU.
Uses:  cli.looking; explain, tasks.
Never: a change that outlives the run.
"""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.looking import Beams, Length, Looked, ModelName, Threads, To, fields

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "EDIT is NAME:PART or NAME:PART:setting=value,… : ablate:decoder.1.cross:head=2 (head=0+2 for two), "
    "scale:encoder.*.self:factor=4, look:decoder.0.cross:query=2,key=0, drop:encoder:position=3, "
    "swap:encoder:first=1,second=4, open-mask:decoder, skip:decoder.1. Several edits work together."
)


@app.command(help="Change something inside, and see what comes of it.", epilog=_EPILOG)
def edit(
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The text; or --file.")] = None,
    edits: Annotated[list[str] | None, typer.Option("--edit", "-e", metavar="EDIT", help="What to change.")] = None,
    model: ModelName = None,
    to: To = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="A text a line; a reference after a tab.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Lines of the file to read.")] = 50,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Probabilities to show.")] = 5,
    beams: Beams = None,
    max_new_tokens: Length = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    threads: Threads = None,
) -> None:
    """Run without and with the edits, and compare."""
    if (text is None) == (file is None):
        raise typer.BadParameter("a text, or --file; one of them", param_hint="TEXT")
    if not edits:
        raise typer.BadParameter("nothing to change; see the names below --help", param_hint="--edit")
    decoding = fields(beams=beams, max_new_tokens=max_new_tokens)
    looked = Looked(text=text or "", model=model, to=to, decoding=decoding, threads=threads)
    from clearhead.explain import compare, parse_edit

    changes = [parse_edit(one) for one in edits]
    loaded = looked.open().loaded
    if text is not None:
        _show(compare(loaded, text, changes, to=to, most=top, **decoding), as_json=as_json)
        return
    assert file is not None
    pairs = _pairs(file, limit)
    outcome = _over_file(loaded, pairs, changes, to=to, decoding=decoding)
    _show_all(pairs, outcome, as_json=as_json)


def _show(found: Any, *, as_json: bool) -> None:
    if as_json:
        shifts = [{"output": one.output, "before": one.before, "after": one.after} for one in found.shifts]
        typer.echo(json.dumps({"text": found.text, "before": found.before, "after": found.after, "shifts": shifts}))
        return
    from clearhead.figures.words import visible

    if found.before or found.after:
        typer.echo(f"before  {visible(found.before)}")
        typer.echo(f"after   {visible(found.after)}" + ("" if found.changed else "  (the same)"))
    for one in found.shifts:
        typer.echo(f"{one.before:8.4f} → {one.after:.4f}  {visible(one.output)}")


def _pairs(file: Path, limit: int) -> list[tuple[str, str | None]]:
    from clearhead.text.files import read_lines

    rows = [line.split("\t") for line in itertools.islice(read_lines(file), limit)]
    return [(row[0], row[1] if len(row) > 1 else None) for row in rows if row[0].strip()]


def _over_file(
    loaded: Any, pairs: Sequence[tuple[str, str | None]], changes: Sequence[Any], *, to: str | None, decoding: Any
) -> list[tuple[str, str]]:
    """What is written for every text, before and after."""
    from clearhead import tasks
    from clearhead.probe import listen
    from clearhead.tasks.single import translates

    texts = [source for source, _ in pairs]

    def written() -> list[str]:
        if translates(loaded, to):
            return [one.text for one in tasks.translate(loaded, texts, to=to, **decoding)]
        options: dict[str, Any] = {"temperature": 0, **decoding}
        return [one[0].text for one in tasks.complete(loaded, texts, **options)]

    before = written()
    with listen(*changes):
        after = written()
    return list(zip(before, after, strict=True))


def _show_all(pairs: Sequence[tuple[str, str | None]], outcome: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    from clearhead.figures.words import visible

    n_changed = 0
    for (source, _), (before, after) in zip(pairs, outcome, strict=True):
        n_changed += before != after
        if as_json:
            typer.echo(json.dumps({"text": source, "before": before, "after": after}, ensure_ascii=False))
        elif before != after:
            typer.echo(f"{visible(source)}\n  before  {visible(before)}\n  after   {visible(after)}")
    if not as_json:
        typer.echo(f"{n_changed} of {len(pairs)} texts changed")
    references = [reference for _, reference in pairs if reference is not None]
    if len(references) == len(pairs) > 0 and not as_json:
        from sacrebleu.metrics.bleu import BLEU

        bleu = BLEU()
        scores = [bleu.corpus_score(list(texts), [references]).score for texts in zip(*outcome, strict=True)]
        typer.echo(f"BLEU {scores[0]:.2f} → {scores[1]:.2f}")
