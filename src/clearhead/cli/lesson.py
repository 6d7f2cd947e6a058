"""Worked examples shown and saved: in the terminal, as JSON, as pictures, as a page.

Takes: examples that are worked out.
Gives: lines on standard output; files.
Uses:  lessons, figures; text, to write a page whole.
Never: a colour in a pipe.
"""

import json
import shutil
from pathlib import Path

import typer

from clearhead.figures.terminal import wants_colour
from clearhead.lessons import Line, Result, Tone, WorkedExample, page, written
from clearhead.text.files import replacing

__all__ = ["save_all", "save_one", "show"]

_DRAWN = "E6"
_MOST_WIDE = 100
_LOOKS = {Tone.TITLE: "1", Tone.NAME: "1", Tone.PRINTED: "32", Tone.WRONG: "31", Tone.REMARK: "2"}


def show(example: WorkedExample, *, as_json: bool) -> None:
    """Print an example: for people, or as a line of JSON."""
    if as_json:
        typer.echo(json.dumps(_plain(example), ensure_ascii=False))
        return
    width = min(shutil.get_terminal_size((80, 24)).columns, _MOST_WIDE)
    colour = wants_colour()
    for line in written(example, width=width):
        typer.echo(_styled(line) if colour else line.text)
    typer.echo()
    if example.key == _DRAWN:
        typer.echo(example.figures["heads"].terminal(width=width, colour=colour))
        typer.echo()


def _styled(line: Line) -> str:
    look = _LOOKS.get(line.tone)
    return f"\x1b[{look}m{line.text}\x1b[0m" if look and line.text else line.text


def _plain(example: WorkedExample) -> dict[str, object]:
    return {
        "key": example.key,
        "title": example.title,
        "shows": example.shows,
        "results": [_plain_result(result) for result in example.results],
    }


def _plain_result(result: Result) -> dict[str, object]:
    return {
        "name": result.name,
        "computed": result.computed,
        "printed": result.printed,
        "agrees": result.agrees,
        "remark": result.remark,
        "rows": result.rows,
        "columns": result.columns,
    }


def save_one(example: WorkedExample, path: Path) -> Path:
    """Draw the first picture of an example."""
    if not example.figures:
        raise typer.BadParameter(
            f"{example.key} has no picture; `clearhead learn --out FOLDER` draws all there are", param_hint="--out"
        )
    return next(iter(example.figures.values())).save(path)


def save_all(examples: list[WorkedExample], folder: Path) -> list[Path]:
    """Every picture as SVG and PNG, and a page with everything."""
    paths = [
        figure.save(folder / f"{example.key}-{name}{ending}")
        for example in examples
        for name, figure in example.figures.items()
        for ending in (".svg", ".png")
    ]
    with replacing(folder / "index.html") as stream:
        stream.write(page(examples).encode("utf-8"))
    return [*paths, folder / "index.html"]
