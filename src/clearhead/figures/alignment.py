"""Alignments: words above, words below, and lines between those that belong together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from clearhead.errors import TraceError
from clearhead.figures.figure import Figure
from clearhead.figures.inks import group
from clearhead.figures.sketch import TEXT, Sketch, check_count, check_like, framed, line
from clearhead.figures.svg import label
from clearhead.figures.words import visible, width

__all__ = ["alignment"]

_GAP = 16.0
_BETWEEN = 110.0
_FAINTEST = 0.04


def alignment(weights: ArrayLike, *, above: Sequence[str], below: Sequence[str], title: str = "") -> Figure:
    """A picture of how much each word below looks at each word above: the wider the line, the more.

    Args:
        weights: A row for each word below, a column for each word above.
        above: The words that are looked at.
        below: The words that look.
        title: What the picture is called.

    Raises:
        TraceError: No table of finite numbers, or too many words.
        ConfigError: Words that do not fit the table.
    """
    table = np.array(weights, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise TraceError("an alignment needs a table of numbers", got=f"shape {table.shape}", expected="two axes")
    check_count("an alignment", table.size)
    check_like("words below", len(below), table.shape[0])
    check_like("words above", len(above), table.shape[1])
    top, bottom = _places(above), _places(below)
    greatest = max(float(table.max()), 1e-9)
    lines = [
        line(top[column], TEXT * 1.5, bottom[row], TEXT * 1.5 + _BETWEEN, wide=0.5 + 4 * share, share=share)
        for row in range(table.shape[0])
        for column in range(table.shape[1])
        if (share := float(table[row, column]) / greatest) > _FAINTEST
    ]
    words = [label(word, x, TEXT, size=TEXT, anchor="middle", fill="currentColor") for word, x in _pairs(above, top)]
    y = TEXT * 2.6 + _BETWEEN
    words += [label(word, x, y, size=TEXT, anchor="middle", fill="currentColor") for word, x in _pairs(below, bottom)]
    wide = max(top[-1] + _half(above[-1]), bottom[-1] + _half(below[-1]))
    marks = [f'<g color="#0072b2">{"".join(lines)}</g>', group("ink", words)]
    svg = framed(marks, wide=wide, high=y + TEXT * 0.5, title=title)
    return Figure(title=title, svg=svg, panels=Sketch(lines=tuple(_lines(table, above, below))))


def _half(word: str) -> float:
    return width(visible(word), size=TEXT) / 2


def _places(words: Sequence[str]) -> list[float]:
    """Where the middle of each word stands."""
    places: list[float] = []
    x = 0.0
    for word in words:
        places.append(x + _half(word))
        x += 2 * _half(word) + _GAP
    return places


def _pairs(words: Sequence[str], places: Sequence[float]) -> list[tuple[str, float]]:
    return list(zip(words, places, strict=True))


def _lines(table: np.ndarray, above: Sequence[str], below: Sequence[str]) -> list[str]:
    """For a terminal: each word below with the words that it looks at most."""
    wide = max(len(word) for word in below)
    found: list[str] = []
    for row, word in enumerate(below):
        most = [int(place) for place in np.argsort(-table[row])[:3]]
        looked = ", ".join(f"{visible(above[column])} {table[row, column]:.2f}" for column in most)
        found.append(f"{visible(word):<{wide}}  ← {looked}")
    return found
