"""`clearhead summarize`: a long text made short.

Takes: texts, a file or standard input, one text a line; a model that summarises, or one that embeds.
Gives: one summary a line: written by the model, or, by an encoder, made of sentences that it picks.
Uses:  cli.lines, cli.options; tasks.
Never: a text cut off silently; a picked sentence passed off as a written one.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import FLAGS, Given, shared_options

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Summarise text.")
@shared_options(decoding=True, several=False)
def summarize(
    given: Given,
    sentences: Annotated[
        int | None,
        typer.Option("--sentences", metavar="N", min=1, help="Sentences to pick, where a model picks them."),
    ] = None,
) -> None:
    """Summarise each line by itself."""
    from clearhead import tasks
    from clearhead.config import Family

    loaded = opened(given, "summarize")
    picks = loaded.config.family is Family.ENCODER_ONLY
    if picks and given.decoding:
        option = FLAGS[next(iter(given.decoding))]
        raise typer.BadParameter("this model picks sentences of the text and writes none", param_hint=option)
    if sentences is not None and not picks:
        raise typer.BadParameter("this model writes its summaries", param_hint="--sentences")
    if picks:
        typer.echo(f"clearhead: {loaded.name} picks sentences of the text; it writes none of its own", err=True)
    options = {"sentences": sentences} if picks else dict(given.decoding)

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        for text, one in zip(texts, tasks.summarize(loaded, texts, **options), strict=True):
            fields = {"text": text, "summary": one.text, "picked": picks, "score": one.score, "tokens": one.tokens}
            yield Outcome(lines=[one.text], fields=fields)

    process_lines(given, work, label="summarising")
