"""A worked example as lines of text that fit a terminal."""

from collections.abc import Iterator
from enum import Enum
from itertools import groupby
from textwrap import wrap
from typing import NamedTuple

from rich.cells import cell_len

from clearhead.lessons.example import Number, Result, Row, Table, Value, WorkedExample

__all__ = ["Line", "Tone", "as_printed", "cells", "written"]

_INDENT = "  "
_DEEPER = "    "


class Tone(Enum):
    """What a line is, so that whoever prints it can choose how it looks."""

    TITLE = "title"
    PROSE = "prose"
    NAME = "name"
    COMPUTED = "computed"
    PRINTED = "printed"
    WRONG = "wrong"
    REMARK = "remark"


class Line(NamedTuple):
    """One line and what it is."""

    tone: Tone
    text: str


def written(example: WorkedExample, *, width: int = 80) -> Iterator[Line]:
    """The lines of an example, none wider than asked for where its words allow."""
    yield from _wrapped(Tone.TITLE, f"{example.key}  {example.title}", width, "")
    yield from _wrapped(Tone.PROSE, example.shows, width, _INDENT)
    for is_short, group in groupby(example.results, key=_is_short):
        results = list(group)
        if is_short:
            yield Line(Tone.PROSE, "")
            yield from _list(results, width)
            continue
        for result in results:
            yield Line(Tone.PROSE, "")
            yield from _block(result, width)


def cells(value: Value, digits: int) -> list[list[str]]:
    """A value as rows of text; words and single numbers are one cell."""
    if isinstance(value, str):
        return [[value]]
    return [[_number(cell, digits) for cell in row] for row in _rows(value)]


def _is_short(result: Result) -> bool:
    """Whether a result is one word or number with nothing to add."""
    return not isinstance(result.computed, tuple) and not result.remark and result.agrees is not False


def _list(results: list[Result], width: int) -> Iterator[Line]:
    """Short results, one a line, their values in line; a long name has its value below it."""
    most = width // 2 + 4
    margin = max((cell_len(result.name) for result in results if cell_len(result.name) <= most), default=0) + 2
    for result in results:
        value = cells(result.computed, result.digits)[0][0] + ("  = as the notes print" if result.agrees else "")
        line = f"{_INDENT}{_pad(result.name, margin)}{value}"
        if cell_len(result.name) <= most and cell_len(line) <= width:
            yield Line(Tone.COMPUTED, line)
        else:
            yield from _wrapped(Tone.NAME, result.name, width, _INDENT)
            yield from _wrapped(Tone.COMPUTED, value, width, _DEEPER)


def _block(result: Result, width: int) -> Iterator[Line]:
    """A row or a table under its name, and the notes' under it where they differ."""
    yield from _wrapped(Tone.NAME, result.name, width, _INDENT)
    for line in _grid(cells(result.computed, result.digits), rows=result.rows, columns=result.columns, width=width):
        yield Line(Tone.COMPUTED, line)
    if result.agrees:
        yield Line(Tone.PRINTED, f"{_DEEPER}= as the notes print")
    elif result.printed is not None:
        yield from _wrong(result, as_printed(result.printed), width)
    yield from _remark(result, width)


def _wrong(result: Result, printed: list[list[str]], width: int) -> Iterator[Line]:
    if not isinstance(result.printed, tuple):
        yield from _wrapped(Tone.WRONG, f"≠ the notes say: {printed[0][0]}", width, _DEEPER)
        return
    yield Line(Tone.WRONG, f"{_DEEPER}≠ the notes print")
    for line in _grid(printed, rows=result.rows, columns=(), width=width):
        yield Line(Tone.WRONG, line)


def _remark(result: Result, width: int) -> Iterator[Line]:
    if result.remark:
        yield from _wrapped(Tone.REMARK, result.remark, width, _DEEPER)


def _grid(body: list[list[str]], *, rows: tuple[str, ...], columns: tuple[str, ...], width: int) -> Iterator[str]:
    """Rows of cells in line, names before and above them; rows too long for the width go on below."""
    table = [list(columns), *body] if columns else body
    names = ["", *rows] if columns and rows else list(rows) or [""] * len(table)
    names += [""] * (len(table) - len(names))
    margin = max(map(cell_len, names)) + (2 if rows else 0)
    wide = max(cell_len(cell) for row in table for cell in row) + 2
    n_fit = max(1, (width - len(_DEEPER) - margin + 2) // wide)
    for first in range(0, max(map(len, table)), n_fit):
        for name, row in zip(names, table, strict=True):
            part = "".join(" " * (wide - cell_len(cell)) + cell for cell in row[first : first + n_fit])
            yield (_DEEPER + _pad(name, margin) + part[2:]).rstrip()


def as_printed(value: Value) -> list[list[str]]:
    """What the notes print, to the digits that they print."""
    if isinstance(value, str):
        return [[value]]
    return [[f"{cell:g}" for cell in row] for row in _rows(value)]


def _rows(value: Number | Row | Table) -> Table:
    if not isinstance(value, tuple):
        return ((value,),)
    rows: list[Row] = [row for row in value if isinstance(row, tuple)]
    if rows:
        return tuple(rows)
    return (tuple(cell for cell in value if not isinstance(cell, tuple)),)


def _number(value: Number, digits: int) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    # A rounded zero has no sign: −0.0000 would say that it matters.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _wrapped(tone: Tone, text: str, width: int, indent: str, *, then: str | None = None) -> Iterator[Line]:
    following = indent if then is None else then
    for line in wrap(text, width, initial_indent=indent, subsequent_indent=following, break_long_words=False):
        yield Line(tone, line)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
