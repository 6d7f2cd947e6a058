"""`clearhead export`: a model as a folder that other programs open.

Takes: a model by name, folder or hub id.
Gives: config.json, model.safetensors, the tokenizer and what belongs to them.
Uses:  model.
Never: a file half written.
"""

from pathlib import Path
from typing import Annotated

import typer

from clearhead.model import load

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Write a model as a folder that other programs open.")
def export(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="An embedded model's name, a folder or a hub id.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write.")],
) -> None:
    """Load a model and save it, in float32, in the published layout of its family."""
    model = load(name)
    folder = model.save_pretrained(out)
    typer.echo(f"wrote {folder}: {model!r}")
