"""`clearhead summarize`: a long text made short.

Takes: texts, a file or standard input, one text a line; a model that summarises.
Gives: one summary a line.
Uses:  cli.lines, cli.options; tasks.
Never: a text cut off silently; a long one is summarised by pieces.
"""

from collections.abc import Iterator, Sequence

import typer

from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import Given, shared_options

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Summarise text.")
@shared_options(decoding=True, several=False)
def summarize(given: Given) -> None:
    """Summarise each line by itself."""
    from clearhead import tasks

    loaded = opened(given, "summarize")

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        for text, one in zip(texts, tasks.summarize(loaded, texts, **given.decoding), strict=True):
            fields = {"text": text, "summary": one.text, "score": one.score, "tokens": one.tokens}
            yield Outcome(lines=[one.text], fields=fields)

    process_lines(given, work, label="summarising")
