"""`clearhead embed`: a vector for each text.

Takes: texts, a file or standard input; a model that embeds.
Gives: one vector a line; or one array of all, where --out ends in .npy.
Uses:  cli.lines, cli.options; tasks.
Never: a text cut off unless --truncate says so.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import Given, shared_options
from clearhead.cli.output import rows_out

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Give each text a vector.")
@shared_options()
def embed(
    given: Given,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut texts that are too long.")] = False,
) -> None:
    """Embed each line by itself."""
    from clearhead import tasks

    is_array = given.out is not None and given.out.suffix == ".npy"
    if is_array and given.as_json:
        raise typer.BadParameter("an array of numbers is not JSON", param_hint="--json")
    loaded = opened(given, "embed")

    def work(texts: Sequence[str]) -> Iterator[Outcome]:
        for text, vector in zip(texts, tasks.embed(loaded, texts, truncate=truncate), strict=True):
            if is_array:
                yield Outcome(lines=[], fields={"vector": vector})
                continue
            # As few digits as give the same float32 again.
            values = [str(value) for value in vector]
            yield Outcome(lines=[" ".join(values)], fields={"text": text, "vector": [float(value) for value in values]})

    if given.out is None or not is_array:
        process_lines(given, work, label="embedding")
        return
    output = rows_out(given.out, width=loaded.config.width)
    n_vectors = process_lines(given, work, label="embedding", output=output)
    typer.echo(f"wrote {given.out}: {n_vectors} vectors", err=True)
