"""`clearhead classify`: which label fits a text.

Takes: texts; a model with labels, or labels of your own for a model that embeds. By default, sentiment.
Gives: one label and its score a line; all labels where --json asks for them.
Uses:  cli.errand, cli.options, cli.output; tasks.
Never: a text cut off unless --truncate says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from clearhead.cli.errand import Errand
from clearhead.cli.options import Given, shared_options
from clearhead.cli.output import Outcome

__all__ = ["Classifying", "app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True, kw_only=True)
class Classifying(Errand):
    """A label for each text."""

    labels: tuple[str, ...]
    truncate: bool

    verb = "classify"
    label = "classifying"

    @property
    def task(self) -> str:
        """Sentiment, or a choice between labels of one's own."""
        return "choose" if self.labels else self.verb

    @property
    def columns(self) -> Mapping[str, str]:
        """The best label."""
        return {"label": "string", "score": "float32"}

    def outcomes(self, loaded: Any, texts: Sequence[str]) -> Iterator[Outcome]:
        """The best label, and all of them for programs."""
        from clearhead import tasks
        from clearhead.figures.words import visible

        labels = list(self.labels) or None
        for text, found in zip(
            texts, tasks.classify(loaded, texts, labels=labels, truncate=self.truncate), strict=True
        ):
            yield Outcome(
                lines=[f"{visible(found[0].label)}\t{found[0].score:.4f}"],
                fields={"text": text, "labels": [asdict(one) for one in found]},
            )

    def row(self, outcome: Outcome) -> Mapping[str, Any]:
        """The best label and its score."""
        return outcome.fields["labels"][0]


@app.command(help="Say which label fits a text.")
@shared_options(corpora=True)
def classify(
    given: Given,
    labels: Annotated[
        list[str] | None, typer.Option("--label", metavar="LABEL", help="Labels of your own; say it once for each.")
    ] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut texts that are too long.")] = False,
) -> None:
    """Classify each line by itself."""
    Classifying(given=given, labels=tuple(labels or ()), truncate=truncate).run()
