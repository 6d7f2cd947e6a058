"""`clearhead verify`: our numbers beside the reference's, site by site, on a model of yours.

Takes: a model, and texts or none.
Gives: a table of deviations and a verdict; exit 1 where a number is too far away.
Uses:  cli.verdict, testing, weights; transformers, through testing.
Never: a download that was not announced.
"""

import json
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Compare every number of a model with the reference's: transformers, on the same text.")
def verify(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder, an embedded model's name or a hub id.")],
    text: Annotated[
        list[str] | None,
        typer.Option("--text", metavar="TEXT", help="What both read; given several times, several texts."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every site, not only the main ones.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with every site.")] = False,
) -> None:
    """Run both sides, print the table, and leave with 1 where they differ."""
    from clearhead.cli.verdict import plain, written
    from clearhead.testing.verify import verify as put_to_the_proof
    from clearhead.weights.locate import resolve

    verdict = put_to_the_proof(resolve(model), text or ())
    if as_json:
        typer.echo(json.dumps(plain(model, verdict), ensure_ascii=False))
    else:
        typer.echo("\n".join(written(model, verdict, every=every)))
    if not verdict.passes:
        raise typer.Exit(1)
