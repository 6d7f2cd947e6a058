"""Tables of words, each shaded by a number: what a model would have said, layer by layer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from clearhead.errors import TraceError
from clearhead.figures.colour import ink_on, shade
from clearhead.figures.figure import Figure
from clearhead.figures.inks import group
from clearhead.figures.sketch import TEXT, Sketch, check_count, check_like, framed
from clearhead.figures.svg import label, rectangle
from clearhead.figures.words import shorten, visible, width

__all__ = ["word_table"]

_HIGH = 24.0
_MOST_LETTERS = 12


def word_table(
    words: Sequence[Sequence[str]],
    shares: ArrayLike,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str = "",
) -> Figure:
    """A picture of a table of words; the darker a cell, the greater its number, from 0 to 1.

    Args:
        words: The words, row by row.
        shares: A number from 0 to 1 for every word.
        rows: What each row is called.
        columns: What each column is called.
        title: What the picture is called.

    Raises:
        TraceError: Numbers that are not between 0 and 1, or too many.
        ConfigError: Words or names that do not fit the numbers.
    """
    table = np.array(shares, dtype=np.float64)
    if table.ndim != 2 or not ((table >= 0) & (table <= 1 + 1e-6)).all():
        raise TraceError("a table of words needs a share for each", got=f"shape {table.shape}", expected="0 to 1")
    check_count("a table of words", table.size)
    check_like("rows of words", len(words), table.shape[0])
    check_like("rows", len(rows), table.shape[0])
    check_like("columns", len(columns), table.shape[1])
    short = [[shorten(visible(word), most=_MOST_LETTERS) for word in row] for row in words]
    heads = [shorten(visible(name), most=_MOST_LETTERS) for name in columns]
    wide = max(width(word, size=TEXT) for row in (*short, heads) for word in row) + 14
    left = max(width(visible(name), size=TEXT) for name in rows) + 8
    cells: list[str] = []
    names: list[str] = []
    for column, name in enumerate(heads):
        x = left + (column + 0.5) * wide
        names.append(label(name, x, TEXT, size=TEXT, anchor="middle", fill="currentColor", tip=columns[column]))
    for row, name in enumerate(rows):
        y = TEXT * 1.6 + row * _HIGH
        names.append(label(name, left - 6, y + _HIGH * 0.68, size=TEXT, anchor="end", fill="currentColor"))
        for column, word in enumerate(short[row]):
            share, x = float(table[row, column]), left + column * wide
            fill, tip = shade(share), f"{words[row][column]}: {share:.4f}"
            cells.append(rectangle(x, y, wide - 1, _HIGH - 1, fill=fill, kind="cell", tip=tip))
            middle, base = x + wide / 2, y + _HIGH * 0.68
            cells.append(label(word, middle, base, size=TEXT, anchor="middle", fill=ink_on(fill)))
    high = TEXT * 1.6 + len(rows) * _HIGH
    svg = framed([group("ink", names), *cells], wide=left + len(columns) * wide, high=high, title=title)
    return Figure(title=title, svg=svg, panels=Sketch(lines=tuple(_lines(short, table, rows, heads))))


def _lines(words: list[list[str]], table: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    side = max(len(name) for name in rows)
    wide = max(len(word) for row in (*words, list(columns)) for word in row)
    found = [" " * side + "  " + "  ".join(f"{name:<{wide + 4}}" for name in columns)]
    for row, name in enumerate(rows):
        cells = [f"{word:<{wide}} {share:3.0%}" for word, share in zip(words[row], table[row].tolist(), strict=True)]
        found.append(f"{name:>{side}}  " + "  ".join(cells))
    return found
