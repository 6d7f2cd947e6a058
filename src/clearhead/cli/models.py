"""`clearhead models`: the models on this computer.

Takes: folders to look in.
Gives: a line for each model: name, family, size, licence and where it lives.
Uses:  weights; figures, to show names whose letters a terminal would obey.
Never: a tensor, or a network.
"""

import json
import shutil
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from clearhead.figures.words import visible
from clearhead.weights.catalogue import ModelEntry, list_models

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_GAP = "  "
_UNKNOWN = "–"
_HEADINGS = ("name", "family", "params", "size", "licence", "where")
_RIGHT = frozenset({"params", "size"})
_MOST_LETTERS = {"family": 12, "licence": 16}
_NOTHING = """\
no models here yet
  try:      clearhead models FOLDER, to look elsewhere"""


@app.command(help="List the models on this computer.")
def models(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FOLDER", help="Models, or folders of models; the present directory by default."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List what can be loaded without a download."""
    entries = list_models(*(folders or []))
    if as_json:
        for entry in entries:
            typer.echo(json.dumps(_plain(entry), ensure_ascii=False))
    elif entries:
        typer.echo("\n".join(_table(entries, width=shutil.get_terminal_size((80, 24)).columns)))
    else:
        typer.echo(_NOTHING, err=True)


def _plain(entry: ModelEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "family": entry.family,
        "parameters": entry.n_parameters,
        "bytes": entry.n_bytes,
        "licence": entry.licence,
        "where": entry.home.value,
        "folder": str(entry.folder.absolute()),
        "problem": entry.problem,
    }


def _table(entries: list[ModelEntry], *, width: int) -> list[str]:
    """Rows in columns; a name that leaves no room for the rest has a line to itself, whole."""
    rows = [_HEADINGS, *map(_cells, entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(1, len(_HEADINGS))]
    rest = sum(widths) + len(_GAP) * len(widths)
    most = max(len(_HEADINGS[0]), width - rest)
    name_width = max((len(row[0]) for row in rows if len(row[0]) <= most), default=most)
    lines: list[str] = []
    for row, entry in zip(rows, [None, *entries], strict=True):
        cells = [
            cell.rjust(size) if heading in _RIGHT else cell.ljust(size)
            for cell, size, heading in zip(row[1:], widths, _HEADINGS[1:], strict=True)
        ]
        name = row[0]
        if len(name) > name_width:
            lines.append(name)
            name = ""
        lines.append(_GAP.join((name.ljust(name_width), *cells)).rstrip())
        if entry is not None and entry.problem is not None:
            problem = f"cannot be loaded: {visible(entry.problem)}"
            lines += textwrap.wrap(problem, width, initial_indent=_GAP, subsequent_indent=_GAP)
    return lines


def _cells(entry: ModelEntry) -> tuple[str, ...]:
    return (
        visible(entry.name),
        _short(entry.family, "family"),
        _UNKNOWN if entry.n_parameters is None else _rounded(entry.n_parameters, ("", "k", "M", "B")),
        _rounded(entry.n_bytes, (" B", " kB", " MB", " GB")),
        _short(entry.licence, "licence"),
        entry.home.value,
    )


def _short(text: str | None, heading: str) -> str:
    most = _MOST_LETTERS[heading]
    shown = visible(text or _UNKNOWN)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _rounded(number: int, units: tuple[str, ...]) -> str:
    """Three figures and a unit: 124M, 1.24B, 548 MB."""
    if number < 1000:
        return f"{number}{units[0]}"
    power = next((power for power in range(1, len(units)) if number < 999.5 * 1000**power), len(units) - 1)
    value = number / 1000**power
    return f"{value:.0f}{units[power]}" if value >= 100 else f"{value:.3g}{units[power]}"
