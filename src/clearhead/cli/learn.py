"""`clearhead learn`: the worked examples, every number computed as you watch.

Takes: the key of an example, or none for all.
Gives: what was computed beside what the notes print; pictures where --out says.
Uses:  lessons, figures; text, to write a page whole.
Never: a colour in a pipe.
"""

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from clearhead.figures.terminal import wants_colour
from clearhead.lessons import EXAMPLES, Line, Result, Tone, WorkedExample, page, written
from clearhead.text.files import replacing

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_DRAWN = "E6"
_MOST_WIDE = 100
_LOOKS = {Tone.TITLE: "1", Tone.NAME: "1", Tone.PRINTED: "32", Tone.WRONG: "31", Tone.REMARK: "2"}
_NEXT = """\
What to try next
  clearhead learn E4                  one example by itself
  clearhead learn E6 --out heads.svg  its picture; .png and .html work too
  clearhead learn --out demo          every picture, and a page with all of it
  clearhead learn E1 --json           the same numbers for a program"""


@app.command(help="Work through the examples of the course, computed as you watch.")
def learn(
    example: Annotated[
        str | None, typer.Argument(metavar="EXAMPLE", help=f"{' '.join(EXAMPLES)}; all of them by default.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="A folder for all pictures and a page; or one .svg, .png or .html."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Compute examples, print them, and draw their pictures."""
    keys = list(EXAMPLES) if example is None else [_known(example)]
    to_file = out is not None and bool(out.suffix) and not out.is_dir()
    if to_file and example is None:
        raise typer.BadParameter(f"{out} is one picture; name its example, or give a folder", param_hint="--out")
    worked: list[WorkedExample] = []
    paths: list[Path] = []
    for key in keys:
        worked.append(EXAMPLES[key]())
        if out is not None and to_file:
            paths.append(_save_one(worked[-1], out))
        _show(worked[-1], as_json=as_json)
    if out is not None and not to_file:
        paths.extend(_save_all(worked, out))
    for path in paths:
        typer.echo(f"wrote {path}", err=as_json)
    if example is None and not as_json:
        typer.echo(("\n" if out else "") + _NEXT)


def _known(example: str) -> str:
    key = example.upper()
    if key not in EXAMPLES:
        raise typer.BadParameter(f"no example {example!r}; there are {', '.join(EXAMPLES)}", param_hint="EXAMPLE")
    return key


def _show(example: WorkedExample, *, as_json: bool) -> None:
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


def _save_one(example: WorkedExample, path: Path) -> Path:
    if not example.figures:
        raise typer.BadParameter(
            f"{example.key} has no picture; `clearhead learn --out FOLDER` draws all there are", param_hint="--out"
        )
    return next(iter(example.figures.values())).save(path)


def _save_all(examples: list[WorkedExample], folder: Path) -> list[Path]:
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
