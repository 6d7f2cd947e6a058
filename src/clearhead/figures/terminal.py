"""Heatmaps for a terminal: blocks that darken, or shades of colour."""

import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from clearhead.figures.colour import ansi
from clearhead.figures.panels import Panels
from clearhead.figures.words import short_number, shorten, visible

__all__ = ["lines", "wants_colour"]

_BLOCKS = " ░▒▓█"
_GAP = "   "
_MOST_LABEL = 12
_WORD_CELL = 6
_LEAST_WIDTH = 30


@dataclass(frozen=True, kw_only=True)
class _Measures:
    """How wide everything is, in columns of the terminal."""

    label: int
    cell: int
    n_columns: int
    colour: bool

    @property
    def panel(self) -> int:
        return self.label + 1 + self.cell * self.n_columns

    @property
    def with_words(self) -> bool:
        return self.cell == _WORD_CELL


def wants_colour() -> bool:
    """Whether output goes to a terminal, and nobody asked for none (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def lines(panels: Panels, *, title: str, width: int, colour: bool | None) -> Iterator[str]:
    """The lines of a heatmap, panels side by side as far as they fit.

    Few columns carry their words and numbers; many are narrow and numbered, with their words below;
    those that do not fit at all are left out, and the last line says so.
    """
    measures = _measure(panels, width=max(width, _LEAST_WIDTH), colour=wants_colour() if colour is None else colour)
    if title:
        yield visible(title)
    row_axis, column_axis = panels.axes
    yield f"rows {row_axis.letter}: {row_axis.name} · columns {column_axis.letter}: {column_axis.name}"
    yield _scale(panels, colour=measures.colour)
    n_across = max(1, (width + len(_GAP)) // (measures.panel + len(_GAP)))
    for first in range(0, len(panels.titles), n_across):
        yield ""
        last = min(first + n_across, len(panels.titles))
        drawn = [list(_panel(panels, index, measures)) for index in range(first, last)]
        for parts in zip(*drawn, strict=True):
            yield _GAP.join(parts).rstrip()
    if not measures.with_words:
        yield ""
        yield from _numbered(panels.columns[: measures.n_columns], width)
    if measures.n_columns < len(panels.columns):
        yield f"({len(panels.columns) - measures.n_columns} more columns do not fit)"


def _measure(panels: Panels, *, width: int, colour: bool) -> _Measures:
    label = max(cell_len(_cut(word, _MOST_LABEL)) for word in panels.rows)
    n_columns = len(panels.columns)
    room = width - label - 1
    cell = next((cell for cell in (_WORD_CELL, 2) if n_columns * cell <= room), 1)
    return _Measures(label=label, cell=cell, n_columns=min(n_columns, room // cell), colour=colour)


def _panel(panels: Panels, index: int, measures: _Measures) -> Iterator[str]:
    """One table, every line of one length as seen."""
    margin = " " * (measures.label + 1)
    wide = measures.cell * measures.n_columns
    if any(panels.titles):
        yield margin + set_cell_size(_cut(panels.titles[index], wide), wide)
    if measures.with_words:
        names = (set_cell_size(_cut(word, measures.cell - 1), measures.cell) for word in panels.columns)
        yield margin + "".join(names)
    else:
        yield margin + _ruler(measures)
    for row, word in enumerate(panels.rows):
        label = _cut(word, _MOST_LABEL)
        values = [float(value) for value in panels.values[index, row, : measures.n_columns]]
        cells = "".join(_cell(value, panels.share(value), measures.cell, colour=measures.colour) for value in values)
        yield " " * (measures.label - cell_len(label)) + label + " " + cells


def _ruler(measures: _Measures) -> str:
    """The number of every fifth column, or every tenth where they are narrow, where it begins."""
    step = 5 if measures.cell > 1 else 10
    wide = measures.cell * measures.n_columns
    marks = (f"{place:<{measures.cell * step}}" for place in range(0, measures.n_columns, step))
    return "".join(marks)[:wide].ljust(wide)


def _cell(value: float, share: float, wide: int, *, colour: bool) -> str:
    number = ("·" if math.isnan(value) else short_number(value)) if wide == _WORD_CELL else ""
    if colour:
        background, foreground = ansi(share)
        text = f"{number:^{wide}.{wide}}"
        return f"\x1b[48;5;{background};38;5;{foreground}m{text}\x1b[0m"
    block = _BLOCKS[round(share * (len(_BLOCKS) - 1))]
    return f"{block * 2}{number:<4.4}" if number else block * wide


def _scale(panels: Panels, *, colour: bool) -> str:
    """What the lightest and the darkest shade stand for."""
    steps = len(_BLOCKS)
    shades = (_cell(0.0, step / (steps - 1), 2, colour=colour) for step in range(steps))
    return f"{panels.low:.3g} " + "".join(shades) + f" {panels.high:.3g}"


def _numbered(words: Sequence[str], width: int) -> Iterator[str]:
    """The words of numbered columns, wrapped."""
    line = "columns:"
    for place, word in enumerate(words):
        item = f" {place} {_cut(word, _MOST_LABEL)}"
        if cell_len(line) + cell_len(item) > width:
            yield line
            line = " " * len("columns:")
        line += item
    yield line


def _cut(word: str, most: int) -> str:
    """A word of at most so many columns."""
    text = visible(word)
    letters = most
    while cell_len(text) > most and letters > 1:
        text = shorten(visible(word), most=letters)
        letters -= 1
    return text if cell_len(text) <= most else set_cell_size(text, most)
