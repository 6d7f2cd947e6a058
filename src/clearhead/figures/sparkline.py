"""Curves for a terminal: one line of blocks each, from its lowest value to its highest."""

from collections.abc import Iterator

import numpy as np
from rich.cells import cell_len, set_cell_size

from clearhead.figures.scale import written
from clearhead.figures.series import Curves, Series
from clearhead.figures.words import shorten, visible

__all__ = ["curve_lines"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST_LABEL = 20
_LEAST_BLOCKS = 10


def curve_lines(curves: Curves, *, title: str, width: int) -> Iterator[str]:
    """The lines of a chart: the name of each series, its course, its first and last value.

    Every series has its own scale, from its lowest value to its highest; colour would add nothing.
    """
    if title:
        yield visible(title)
    low = min(float(each.points[0, 0]) for each in curves.series)
    high = max(float(each.points[-1, 0]) for each in curves.series)
    yield f"{visible(curves.x_label or 'x')} {written(low)} to {written(high)}"
    names = [shorten(visible(each.name), most=_MOST_LABEL) for each in curves.series]
    ends = [f"{written(float(each.points[0, 1]))} → {written(each.last)}" for each in curves.series]
    label = max(map(cell_len, names))
    n_blocks = max(_LEAST_BLOCKS, width - label - max(map(len, ends)) - 2)
    for series, name, end in zip(curves.series, names, ends, strict=True):
        course = _course(series, low=low, high=high, n_blocks=n_blocks)
        yield f"{set_cell_size(name, label)} {course} {end}"


def _course(series: Series, *, low: float, high: float, n_blocks: int) -> str:
    """The mean of each stretch as a block; a stretch without points shows the last value before it."""
    places, values = series.points[:, 0], series.points[:, 1]
    shares = (places - low) / (high - low) if high > low else np.zeros_like(places)
    columns = np.minimum((shares * n_blocks).astype(np.int64), n_blocks - 1)
    counts = np.bincount(columns, minlength=n_blocks)
    sums = np.bincount(columns, weights=values, minlength=n_blocks)
    bottom, extent = float(values.min()), float(np.ptp(values))
    blocks: list[str] = []
    for count, total in zip(counts.tolist(), sums.tolist(), strict=True):
        if count:
            share = (total / count - bottom) / extent if extent > 0 else 0.5
            blocks.append(_BLOCKS[min(max(round(share * (len(_BLOCKS) - 1)), 0), len(_BLOCKS) - 1)])
        else:
            blocks.append(blocks[-1] if blocks and columns[-1] >= len(blocks) else " ")
    return "".join(blocks)
