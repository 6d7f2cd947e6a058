"""`clearhead fill`: the word that is masked.

Takes: texts with a mask: [MASK], <mask> or ___; a model that fills masks.
Gives: the likeliest words of each mask, with their probabilities.
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


@app.command(help="Fill in masked words.")
@shared_options()
def fill(
    given: Given,
    n: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Words to show for each mask.")] = 5,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut texts that are too long.")] = False,
) -> None:
    """Fill the masks of each line."""
    from clearhead import tasks
    from clearhead.figures.words import visible

    loaded = opened(given, "fill")

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        # A blank line of a file has nothing to fill, but keeps its place.
        asked = [text for text in texts if given.texts or text.strip()]
        found = iter(tasks.fill(loaded, asked, n=n, truncate=truncate))
        for text in texts:
            masks = next(found) if given.texts or text.strip() else []
            shown = ["  ".join(f"{visible(one.token.strip())} {one.score:.3f}" for one in mask) for mask in masks]
            fields = {"text": text, "masks": [[asdict(one) for one in mask] for mask in masks]}
            yield Outcome(lines=shown or [""], fields=fields)

    process_lines(given, work, label="filling")
