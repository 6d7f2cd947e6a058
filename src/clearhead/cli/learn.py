"""`clearhead learn`: the course in the terminal, every number computed as you watch.

Takes: the key of a chapter or of a worked example, or none for all examples.
Gives: the chapter with its questions, or what was computed beside what the notes print; pictures where --out says.
Uses:  cli.chapters, cli.lesson, lessons.
Never: a colour in a pipe.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_WORKED = Path(__file__).parents[1] / "lessons" / "worked"
_CHAPTERS = re.compile("[A-D][0-9]+|course", re.IGNORECASE)
_NEXT = """\
What to try next
  clearhead learn course              the chapters
  clearhead learn B4                  a chapter, with questions
  clearhead learn E4                  one example by itself
  clearhead learn E6 --out heads.svg  its picture; .png and .html work too
  clearhead learn --out demo          every picture, and a page with all of it
  clearhead learn E1 --json           the same numbers for a program"""


def _keys() -> list[str]:
    """The keys of the examples, from the names of their files: to import those takes torch."""
    return [f"E{int(path.name[1:3])}" for path in sorted(_WORKED.glob("e[0-9][0-9]_*.py"))]


@app.command(help="Work through the examples of the course, computed as you watch.")
def learn(
    example: Annotated[
        str | None,
        typer.Argument(
            metavar="LESSON", help=f"course; a chapter such as B4; {' '.join(_keys())}, all of them by default."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="A folder for all pictures and a page; or one .svg, .png or .html."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Compute examples, print them, and draw their pictures; or go through a chapter."""
    if example is not None and _CHAPTERS.fullmatch(example):
        from clearhead.cli.chapters import show_chapter, show_contents

        if example.lower() == "course":
            show_contents()
        else:
            show_chapter(example.upper(), as_json=as_json)
        return
    from clearhead.cli.lesson import save_all, save_one, show
    from clearhead.lessons import EXAMPLES, WorkedExample

    keys = list(EXAMPLES) if example is None else [_known(example, EXAMPLES)]
    to_file = out is not None and bool(out.suffix) and not out.is_dir()
    if to_file and example is None:
        raise typer.BadParameter(f"{out} is one picture; name its example, or give a folder", param_hint="--out")
    worked: list[WorkedExample] = []
    paths: list[Path] = []
    for key in keys:
        worked.append(EXAMPLES[key]())
        if out is not None and to_file:
            paths.append(save_one(worked[-1], out))
        show(worked[-1], as_json=as_json)
    if out is not None and not to_file:
        paths.extend(save_all(worked, out))
    for path in paths:
        typer.echo(f"wrote {path}", err=as_json)
    if example is None and not as_json:
        typer.echo(("\n" if out else "") + _NEXT)


def _known(example: str, known: Collection[str]) -> str:
    key = example.upper()
    if key not in known:
        raise typer.BadParameter(f"no example {example!r}; there are {', '.join(known)}", param_hint="EXAMPLE")
    return key
