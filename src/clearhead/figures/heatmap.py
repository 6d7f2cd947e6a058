"""Heatmaps: who looks at whom, one panel a head, words on both axes."""

import math
from collections.abc import Iterator, Sequence

from numpy.typing import ArrayLike

from clearhead.axes import Axis
from clearhead.figures.colour import PAPER, ink_on, shade
from clearhead.figures.figure import Figure
from clearhead.figures.layout import Layout
from clearhead.figures.panels import Panels
from clearhead.figures.svg import document, label, rectangle
from clearhead.figures.words import short_number, shorten, visible, width

__all__ = ["heatmap"]

_MARGIN = 16.0
_TITLE = 15.0
_TEXT = 12.0
_TAG = 20.0
_GRID = "#d9d9df"
_MOST_TIPS = 10_000
_MOST_VALUES = 600
_BAR = (120.0, 12.0, 40)


def heatmap(
    values: ArrayLike,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    titles: Sequence[str] | None = None,
    title: str = "",
    axes: str = "QK",
    holes: bool = False,
    scale: tuple[float | int | None, float | int | None] = (None, None),
) -> Figure:
    """A picture of one table or several, the darker the more.

    Args:
        values: Two axes for one table, three for several heads.
        rows: The words of the rows.
        columns: The words of the columns.
        titles: One a table; "head 0", "head 1" and so on where there are several.
        title: What the whole picture is called.
        axes: The letters of rows and columns in the legend.
        holes: Whether a cell may be NaN, and is then left blank.
        scale: The values of the lightest and the darkest shade; by default 0 and the greatest value.

    Raises:
        TraceError: Numbers that are not finite, not tables, none, or more than a picture can show.
        ConfigError: Labels or titles that do not fit, an unknown letter, or a scale without extent.
    """
    panels = Panels.of(values, rows=rows, columns=columns, titles=titles, axes=axes, scale=scale, holes=holes)
    return Figure(title=title, svg=_draw(panels, title), panels=panels)


def _draw(panels: Panels, title: str) -> str:
    layout = Layout(panels=panels)
    row_axis, column_axis = panels.axes
    head = _TITLE * 1.8 if title else 0.0
    left = _MARGIN + _TAG + 8
    top = _MARGIN + head + _TAG + 10
    foot = 14 + _BAR[1]
    wide = left + max(layout.grid_wide, width(visible(title), size=_TITLE), _tag_wide(column_axis), 220) + _MARGIN
    high = top + max(layout.grid_high, layout.over + layout.above + _tag_wide(row_axis)) + foot + _MARGIN
    marks: list[str] = []
    if title:
        marks.append(label(title, _MARGIN, _MARGIN + _TITLE, size=_TITLE))
    marks.extend(_tag(column_axis, x=left + layout.left, y=_MARGIN + head))
    marks.extend(_standing_tag(row_axis, x=_MARGIN, y=top + layout.over + layout.above))
    for index, name in enumerate(panels.titles):
        x, y = layout.corner(index)
        marks.extend(_panel(panels, layout, index=index, name=name, x=left + x, y=top + y))
    marks.extend(_bar(panels, x=left + layout.left, y=high - _MARGIN - _BAR[1]))
    return document(marks, wide=wide, high=high, title=title or "heatmap", background=PAPER)


def _panel(panels: Panels, layout: Layout, *, index: int, name: str, x: float, y: float) -> Iterator[str]:
    """One table with its title and labels."""
    x, cell, text = x + layout.left, layout.cell, layout.text
    if name:
        yield label(name, x, y + _TEXT, size=_TEXT)
    y += layout.over + layout.above
    for place in range(0, len(panels.columns), layout.stride):
        slanted = layout.turn > -90
        centre = x + (place + 0.5) * cell + (text * 0.2 if slanted else text * 0.35)
        word = layout.column_labels[place]
        yield label(word, centre, y - 5, size=text, turn=layout.turn, tip=_whole(panels.columns[place], word))
    for place in range(0, len(panels.rows), layout.stride):
        word = layout.row_labels[place]
        middle = y + (place + 0.5) * cell + text * 0.35
        yield label(word, x - 5, middle, size=text, anchor="end", tip=_whole(panels.rows[place], word))
    yield rectangle(x - 1, y - 1, layout.cells_wide + 1, layout.cells_high + 1, fill=_GRID)
    yield from _cells(panels, layout, index=index, x=x, y=y)


def _cells(panels: Panels, layout: Layout, *, index: int, x: float, y: float) -> Iterator[str]:
    n_cells = panels.values.size
    cell = layout.cell
    side = cell - 1 if cell > 4 else cell
    numbered = cell >= 30 and n_cells <= _MOST_VALUES
    for row, row_word in enumerate(panels.rows):
        for column, column_word in enumerate(panels.columns):
            value = float(panels.values[index, row, column])
            hole = math.isnan(value)
            fill = PAPER if hole else shade(panels.share(value))
            left, top = x + column * cell, y + row * cell
            told = "not computed" if hole else f"{value:.4g}"
            tip = f"{row_word} → {column_word}: {told}" if n_cells <= _MOST_TIPS else ""
            yield rectangle(left, top, side, side, fill=fill, kind="cell", tip=tip)
            text = "" if hole else short_number(value)
            if text and numbered and width(text, size=11.0) < side:
                yield label(text, left + side / 2, top + side / 2 + 4, size=11.0, anchor="middle", fill=ink_on(fill))


def _bar(panels: Panels, *, x: float, y: float) -> Iterator[str]:
    """The scale: what the lightest and the darkest shade stand for."""
    wide, high, n_steps = _BAR
    low, top = f"{panels.low:.3g}", f"{panels.high:.3g}"
    x += width(low, size=_TEXT) + 4
    yield label(low, x - 5, y + high - 2, size=_TEXT, anchor="end")
    for step in range(n_steps):
        fill = shade(step / (n_steps - 1))
        yield rectangle(x + step * wide / n_steps, y, wide / n_steps + 0.3, high, fill=fill)
    yield label(top, x + wide + 6, y + high - 2, size=_TEXT)


def _tag(axis: Axis, *, x: float, y: float) -> Iterator[str]:
    """An axis by name, on the colour that the legend gives it."""
    wide, ink = _tag_wide(axis), ink_on(axis.colour)
    yield rectangle(x, y, wide, _TAG, fill=axis.colour, radius=_TAG / 2)
    yield label(_axis_name(axis), x + wide / 2, y + _TAG * 0.7, size=_TEXT, anchor="middle", fill=ink)


def _standing_tag(axis: Axis, *, x: float, y: float) -> Iterator[str]:
    """The same, read from the bottom to the top."""
    high, ink = _tag_wide(axis), ink_on(axis.colour)
    yield rectangle(x, y, _TAG, high, fill=axis.colour, radius=_TAG / 2)
    middle = y + high / 2
    yield label(_axis_name(axis), x + _TAG * 0.7, middle, size=_TEXT, anchor="middle", turn=-90.0, fill=ink)


def _axis_name(axis: Axis) -> str:
    return f"{axis.letter} · {axis.name}"


def _tag_wide(axis: Axis) -> float:
    return width(_axis_name(axis), size=_TEXT) + _TAG


def _whole(word: str, written: str) -> str:
    """The full word where what is written is cut short."""
    return word if written != shorten(visible(word), most=len(word) + 1) else ""
