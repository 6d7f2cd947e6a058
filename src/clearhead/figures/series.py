"""Series: named lines of points that share two axes, checked before anything is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from clearhead.errors import ConfigError, TraceError
from clearhead.figures.inks import SERIES

__all__ = ["MAX_POINTS", "Curves", "Series"]

MAX_POINTS = 10_000_000
_SMALLEST, _LARGEST = 1e-80, 1e100
_LOG_AXES = ("", "x", "y", "xy")


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One line.

    Attributes:
        name: What it is called.
        points: Where it passes, from left to right: a place on the x axis and one on the y axis each.
    """

    name: str
    points: Float64[np.ndarray, "points 2"]

    @property
    def last(self) -> float:
        """The value at its right end."""
        return float(self.points[-1, 1])

    def thinned(self, n_columns: int, *, logarithmic: bool = False) -> Float64[np.ndarray, "fewer 2"]:
        """Few points that draw the same line: of each column, the first, the lowest, the highest and the last.

        Args:
            n_columns: Into how many columns the width is cut.
            logarithmic: Whether the x axis is.
        """
        if len(self.points) <= 4 * n_columns:
            return self.points
        places = np.log(self.points[:, 0]) if logarithmic else self.points[:, 0]
        shares = (places - places[0]) / max(places[-1] - places[0], _SMALLEST)
        columns = np.minimum((shares * n_columns).astype(np.int64), n_columns - 1)
        starts = np.flatnonzero(np.diff(columns, prepend=-1))
        kept: set[int] = set()
        for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
            values = self.points[start:end, 1]
            kept |= {int(start), int(start + values.argmin()), int(start + values.argmax()), int(end - 1)}
        return self.points[sorted(kept)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """Lines that share their axes.

    Attributes:
        series: The lines.
        x_label: What the x axis measures.
        y_label: What the y axis measures.
        log_axes: The axes on which equal steps are equal ratios: "x", "y", both or neither.
        events: Places on the x axis where something happened, by what it was.
    """

    series: tuple[Series, ...]
    x_label: str
    y_label: str
    log_axes: str
    events: Mapping[str, float]

    @classmethod
    def of(
        cls,
        series: Mapping[str, ArrayLike],
        *,
        x_label: str = "",
        y_label: str = "",
        log_axes: str = "",
        events: Mapping[str, float | int] | None = None,
    ) -> "Curves":
        """Lines from tables of two columns, in any order.

        Args:
            series: The points of each line by its name.
            x_label: What the x axis measures.
            y_label: What the y axis measures.
            log_axes: The axes on which equal steps are equal ratios.
            events: Places on the x axis where something happened, by what it was.

        Raises:
            TraceError: Points that are not pairs of finite numbers, none, too many, or not above 0 on a
                logarithmic axis.
            ConfigError: No line, more than can be told apart, or an axis that is not x or y.
        """
        if not 1 <= len(series) <= len(SERIES):
            raise ConfigError(
                "a number of lines that cannot be told apart", got=len(series), expected=f"1 to {len(SERIES)}"
            )
        if log_axes not in _LOG_AXES:
            raise ConfigError("an axis that curves do not have", got=repr(log_axes), expected="x, y or xy")
        happened = {name: float(place) for name, place in (events or {}).items()}
        if happened:
            _read_points("events", [[place, 1.0] for place in happened.values()], log_axes)
        return cls(
            series=tuple(
                Series(name=name, points=_read_points(name, points, log_axes)) for name, points in series.items()
            ),
            x_label=x_label,
            y_label=y_label,
            log_axes=log_axes,
            events=happened,
        )


def _read_points(name: str, points: ArrayLike, log_axes: str) -> Float64[np.ndarray, "points 2"]:
    try:
        table = np.array(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TraceError(
            "a line needs numbers", got=f"{name}: {type(points).__name__}", expected="(x, y) pairs"
        ) from None
    if table.ndim != 2 or table.shape[1] != 2 or not 1 <= len(table) <= MAX_POINTS:
        raise TraceError(
            "a line needs points",
            got=f"{name}: shape {table.shape}",
            expected=f"rows of two numbers, 1 to {MAX_POINTS} of them",
        )
    n_bad = int((~(np.abs(table) <= _LARGEST)).sum())
    if n_bad:
        raise TraceError(
            "numbers that cannot be drawn", got=f"{name}: {n_bad} NaN or too large", expected=f"at most {_LARGEST:g}"
        )
    for axis in log_axes:
        if not (table[:, "xy".index(axis)] >= _SMALLEST).all():
            raise TraceError(
                f"a logarithmic {axis} axis has no place for 0 or less", got=name, expected="numbers above 0"
            )
    return table[np.argsort(table[:, 0], kind="stable")]
