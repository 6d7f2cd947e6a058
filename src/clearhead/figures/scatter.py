"""Maps: vectors as points on paper, near where they are alike."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from clearhead.errors import TraceError
from clearhead.figures.figure import Figure
from clearhead.figures.inks import SERIES, group
from clearhead.figures.sketch import TEXT, Sketch, check_count, check_like, framed
from clearhead.figures.svg import label
from clearhead.figures.words import visible, width

__all__ = ["scatter"]

_SIDE = 420.0
_GRID = (60, 20)


def scatter(points: ArrayLike, *, names: Sequence[str], kinds: Sequence[int] | None = None, title: str = "") -> Figure:
    """A picture of named points.

    Args:
        points: Two numbers for each point; vectors with more are laid on the plane in which they differ most.
        names: What each point is called.
        kinds: A colour for each point, counted from 0; all alike by default.
        title: What the picture is called.

    Raises:
        TraceError: Points that are not finite, or too many.
        ConfigError: Names or kinds that do not fit the points.
    """
    table = np.array(points, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise TraceError("a map needs points", got=f"shape {table.shape}", expected="two finite numbers or more each")
    check_count("points", len(table))
    check_like("names", len(names), len(table))
    colours = [0] * len(table) if kinds is None else list(kinds)
    check_like("kinds", len(colours), len(table))
    places = _on_unit_square(table if table.shape[1] == 2 else _flattened(table))
    dots: list[str] = []
    words: list[str] = []
    for (x, y), name, kind in zip(places.tolist(), names, colours, strict=True):
        left, top = x * _SIDE, (1 - y) * _SIDE
        ink = SERIES[kind % len(SERIES)]
        dots.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="4" fill="{ink}"/>')
        words.append(label(name, left + 6, top + 4, size=TEXT, fill="currentColor"))
    wide = _SIDE + max(width(visible(name), size=TEXT) for name in names) + 8
    svg = framed([*dots, group("ink", words)], wide=wide, high=_SIDE + 6, title=title)
    return Figure(title=title, svg=svg, panels=Sketch(lines=tuple(_lines(places, names))))


def _flattened(table: np.ndarray) -> np.ndarray:
    """The two directions in which points differ most (principal components)."""
    centred = table - table.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    if len(directions) < 2:
        return np.pad(centred @ directions.T, ((0, 0), (0, 1)))
    flat = centred @ directions[:2].T
    # The sign of a direction is arbitrary; this choice makes the picture the same every time.
    return flat * np.where(flat[np.abs(flat).argmax(0), [0, 1]] < 0, -1.0, 1.0)


def _on_unit_square(table: np.ndarray) -> np.ndarray:
    low, extent = table.min(0), float((table.max(0) - table.min(0)).max()) or 1.0
    return (table - low) / extent


def _lines(places: np.ndarray, names: Sequence[str]) -> list[str]:
    columns, rows = _GRID
    paper = [[" "] * (columns + 24) for _ in range(rows + 1)]
    for (x, y), name in zip(places.tolist(), names, strict=True):
        row, column = round((1 - y) * rows), round(x * columns)
        for place, letter in enumerate(f"•{visible(name)}"[:24]):
            paper[row][column + place] = letter
    return ["".join(row).rstrip() for row in paper]
