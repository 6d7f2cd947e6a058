"""`clearhead export`: a model as a folder that other programs open.

Takes: a model by name, folder or hub id.
Gives: config.json, model.safetensors, the tokenizer and what belongs to them.
Uses:  model.
Never: a file half written.
"""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Write a model as a folder that other programs open.")
def export(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="An embedded model's name, a folder or a hub id.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder to write.")],
    precision: Annotated[
        str,
        typer.Option(
            "--precision",
            metavar="KIND",
            help="How numbers are written: float32, float16, bfloat16; or int8, for clearhead alone.",
        ),
    ] = "float32",
) -> None:
    """Load a model and save it in the published layout of its family."""
    from clearhead.model import load

    model = load(name)
    folder = model.save_pretrained(out, precision=precision)
    typer.echo(f"wrote {folder}: {model!r}")
