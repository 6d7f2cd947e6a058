"""`clearhead embed`: a vector for each text.

Takes: texts, a file or standard input; a model that embeds.
Gives: one vector a line; or one array of all, where --out ends in .npy.
Uses:  cli.errand, cli.options, cli.output; tasks.
Never: a text cut off unless --truncate says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from clearhead.cli.errand import Errand
from clearhead.cli.options import Given, shared_options
from clearhead.cli.output import Outcome, Output, rows_out

__all__ = ["Embedding", "app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True, kw_only=True)
class Embedding(Errand):
    """A vector for each text."""

    truncate: bool

    verb = "embed"
    label = "embedding"

    @property
    def is_array(self) -> bool:
        """Whether all vectors become one array."""
        return self.given.out is not None and self.given.out.suffix == ".npy"

    @property
    def columns(self) -> Mapping[str, str]:
        """The vector."""
        return {"vector": "list<float32>"}

    def outcomes(self, loaded: Any, texts: Sequence[str]) -> Iterator[Outcome]:
        """Vectors, in digits unless they become an array."""
        from clearhead import tasks

        for text, vector in zip(texts, tasks.embed(loaded, texts, truncate=self.truncate), strict=True):
            if self.is_array:
                yield Outcome(lines=[], fields={"vector": vector})
                continue
            # As few digits as give the same float32 again.
            values = [str(value) for value in vector]
            yield Outcome(lines=[" ".join(values)], fields={"text": text, "vector": [float(value) for value in values]})

    def row(self, outcome: Outcome) -> Mapping[str, Any]:
        """The vector."""
        return {"vector": outcome.fields["vector"]}

    def output(self, loaded: Any) -> AbstractContextManager[Output] | None:
        """The array, if there is to be one."""
        if self.given.out is None or not self.is_array:
            return None
        return rows_out(self.given.out, width=loaded.config.width)


@app.command(help="Give each text a vector.")
@shared_options(corpora=True)
def embed(
    given: Given,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut texts that are too long.")] = False,
) -> None:
    """Embed each line by itself."""
    errand = Embedding(given=given, truncate=truncate)
    if errand.is_array and given.as_json:
        raise typer.BadParameter("an array of numbers is not JSON", param_hint="--json")
    n_vectors = errand.run()
    if errand.is_array and not errand.is_corpus:
        typer.echo(f"wrote {given.out}: {n_vectors} vectors", err=True)
