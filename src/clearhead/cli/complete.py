"""`clearhead complete`: go on with a text.

Takes: beginnings of texts, a file or standard input; a model that writes.
Gives: the text as it is written; a result a line where there are several, or --json, --out or --nbest asks for it.
Uses:  cli.corpus, cli.harmless, cli.lines, cli.options; tasks.
Never: half a character.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from clearhead.cli.corpus import segments
from clearhead.cli.harmless import harmless
from clearhead.cli.lines import INTERRUPTED, Outcome, opened, process_lines
from clearhead.cli.options import Given, shared_options

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Go on with a text.")
@shared_options(decoding=True, sampling=True)
def complete(given: Given) -> None:
    """Complete each line by itself."""
    decoding = dict(given.decoding)
    loaded = opened(given, "complete", overflow=decoding.pop("overflow"))
    n = decoding.pop("n_best", 1)
    by_line = given.as_json or given.out or given.file or n > 1 or decoding.get("beams", 1) > 1
    # As it comes is for people, and for a single text; elsewhere a result is a line.
    if by_line or not (len(given.texts) == 1 or sys.stdout.isatty()):
        _by_line(given, loaded, decoding, n=n)
    else:
        _as_it_comes(given, loaded, decoding)


def _as_it_comes(given: Given, loaded: Any, decoding: dict[str, Any]) -> None:
    from clearhead import tasks

    shown = harmless if sys.stdout.isatty() else str
    for number, text in enumerate(segments(given.texts)):
        begun = False
        try:
            for piece in tasks.stream(loaded, text, **decoding):
                # The text is shown with the first piece: what cannot be done has failed by then.
                _say(shown(piece if begun else ("\n" if number else "") + _before(loaded, text) + piece))
                begun = True
        except KeyboardInterrupt:
            _say("\n" if begun else "")
            typer.echo("clearhead: stopped", err=True)
            raise typer.Exit(INTERRUPTED) from None
        _say("\n" if begun else shown(_before(loaded, text)) + "\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _before(loaded: Any, text: str) -> str:
    """What a continuation is shown behind: a decoder goes on with the text, an encoder-decoder writes another."""
    from clearhead.config import Family

    return text if loaded.config.family is Family.DECODER_ONLY else ""


def _by_line(given: Given, loaded: Any, decoding: dict[str, Any], *, n: int) -> None:
    from clearhead import tasks

    if decoding.get("beams", 1) > 1:
        decoding, n = {**decoding, "n_best": n}, 1

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        for text, found in zip(
            texts, tasks.complete(loaded, texts, n=n, scored=given.as_json, **decoding), strict=True
        ):
            completions = [
                {"text": one.text, "score": one.score, "tokens": one.tokens, "finish": one.finish} for one in found
            ]
            yield Outcome(
                lines=[_before(loaded, text) + one.text for one in found],
                fields={"text": text, "completions": completions},
            )

    process_lines(given, work, label="writing")
