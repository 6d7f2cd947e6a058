"""Bars: what adds up to a number, each share to the left or to the right of nothing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from clearhead.errors import TraceError
from clearhead.figures.figure import Figure
from clearhead.figures.inks import group
from clearhead.figures.sketch import TEXT, Sketch, check_count, check_like, framed, line
from clearhead.figures.svg import label, rectangle
from clearhead.figures.words import visible, width

__all__ = ["bars"]

_HIGH = 18.0
_WIDE = 360.0
_MORE, _LESS = "#0072b2", "#d55e00"
_BLOCK = "█"
_COLUMNS = 30


def bars(values: ArrayLike, *, names: Sequence[str], title: str = "", spelling: str = "+.3f") -> Figure:
    """A picture of signed numbers, one bar each.

    Args:
        values: The numbers.
        names: What each is called.
        title: What the picture is called.
        spelling: How the numbers are written, as Python's formats say it.

    Raises:
        TraceError: No finite numbers, or too many.
        ConfigError: Names that do not fit the numbers.
    """
    numbers = np.array(values, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise TraceError("bars need a list of numbers", got=f"shape {numbers.shape}", expected="finite numbers")
    check_count("bars", numbers.size)
    check_like("names", len(names), numbers.size)
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
    scale = _WIDE / ((high - low) or 1.0)
    left = max(width(visible(name), size=TEXT) for name in names) + 60
    zero = left - low * scale
    shapes: list[str] = []
    words: list[str] = []
    for place, (value, name) in enumerate(zip(numbers.tolist(), names, strict=True)):
        y = place * _HIGH
        x, wide = (zero, value * scale) if value >= 0 else (zero + value * scale, -value * scale)
        fill = _MORE if value >= 0 else _LESS
        shapes.append(rectangle(x, y + 2, max(wide, 0.5), _HIGH - 4, fill=fill, tip=f"{name}: {value:.6g}"))
        words.append(label(name, left - 60, y + _HIGH * 0.72, size=TEXT, anchor="end", fill="currentColor"))
        words.append(
            label(f"{value:{spelling}}", left - 5, y + _HIGH * 0.72, size=TEXT - 2, anchor="end", fill="currentColor")
        )
    words.append(line(zero, 0.0, zero, numbers.size * _HIGH))
    svg = framed([*shapes, group("ink", words)], wide=left + _WIDE, high=numbers.size * _HIGH, title=title)
    greatest = float(np.abs(numbers).max()) or 1.0
    longest = max(len(visible(name)) for name in names)
    lines = tuple(
        f"{visible(name):<{longest}} {value:+9.4f} {_BLOCK * round(abs(value) / greatest * _COLUMNS)}"
        for value, name in zip(numbers.tolist(), names, strict=True)
    )
    return Figure(title=title, svg=svg, panels=Sketch(lines=lines))
