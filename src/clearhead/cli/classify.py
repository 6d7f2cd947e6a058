"""`clearhead classify`: which label fits a text.

Takes: texts; a model with labels, or labels of your own for a model that embeds. By default, sentiment.
Gives: one label and its score a line; all labels where --json asks for them.
Uses:  cli.lines, cli.options; tasks.
Never: a text cut off unless --truncate says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import Given, shared_options

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Say which label fits a text.")
@shared_options()
def classify(
    given: Given,
    labels: Annotated[
        list[str] | None, typer.Option("--label", metavar="LABEL", help="Labels of your own; say it once for each.")
    ] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut texts that are too long.")] = False,
) -> None:
    """Classify each line by itself."""
    from clearhead import tasks
    from clearhead.figures.words import visible

    loaded = opened(given, "classify", default="choose" if labels else None)

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        for text, found in zip(
            texts, tasks.classify(loaded, texts, labels=labels or None, truncate=truncate), strict=True
        ):
            yield Outcome(
                lines=[f"{visible(found[0].label)}\t{found[0].score:.4f}"],
                fields={"text": text, "labels": [asdict(one) for one in found]},
            )

    process_lines(given, work, label="classifying")
