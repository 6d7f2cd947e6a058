"""`clearhead translate`: text in one language, text in another.

Takes: texts, a file or standard input; a model that translates; the language to translate into.
Gives: one translation a line, with scores and pieces where --json asks for them.
Uses:  cli.lines, cli.options; tasks.
Never: a line more or less than it read.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import Given, shared_options

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Translate text.")
@shared_options(decoding=True)
def translate(
    given: Given,
    to: Annotated[str | None, typer.Option("--to", metavar="LANG", help="The language to write: fr, German.")] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="LANG", help="The language of the text.")] = None,
) -> None:
    """Translate each line by itself."""
    from clearhead import tasks

    loaded = opened(given, "translate")

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        found = tasks.translate(loaded, texts, to=to, source=source, **given.decoding)
        for text, translation in zip(texts, found, strict=True):
            yield Outcome(
                lines=[one.text for one in translation.alternatives] or [translation.text],
                fields={
                    "text": text,
                    "translation": translation.text,
                    "alternatives": _plain(translation.alternatives),
                    "sentences": _plain(translation.sentences),
                },
            )

    process_lines(given, work, label="translating")


def _plain(written: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"text": one.text, "score": one.score, "tokens": one.tokens} for one in written]
