"""Panels: tables of numbers that share their row and column labels, checked before anything is drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from clearhead.axes import AXES, Axis
from clearhead.errors import ConfigError, TraceError

__all__ = ["MAX_CELLS", "Panels"]

MAX_CELLS = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Panels:
    """Tables of numbers with words on both axes, one a head.

    Attributes:
        values: A table for every title, a row for every row label, a column for every column label.
        rows: The labels of the rows.
        columns: The labels of the columns.
        titles: What stands above each table.
        axes: The letters of rows and columns in the legend.
        low: The value of the lightest shade.
        high: The value of the darkest shade.
    """

    values: Float64[np.ndarray, "panels rows columns"]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    titles: tuple[str, ...]
    axes: tuple[Axis, Axis]
    low: float
    high: float

    @classmethod
    def of(
        cls,
        values: ArrayLike,
        *,
        rows: Sequence[str],
        columns: Sequence[str],
        titles: Sequence[str] | None = None,
        axes: str = "QK",
        scale: tuple[float | int | None, float | int | None] = (None, None),
        holes: bool = False,
    ) -> "Panels":
        """Panels from one table, or from several stacked.

        Args:
            values: Two axes for one table, three for several.
            rows: The labels of the rows.
            columns: The labels of the columns.
            titles: One a table; "head 0", "head 1" and so on where there are several and none is given.
            axes: The letters of rows and columns in the legend.
            scale: The values of the lightest and the darkest shade; by default 0, or the least value if that is below,
                and the greatest value.
            holes: Whether a cell may be NaN.

        Raises:
            TraceError: Numbers that are not finite, not tables, none, or more than a picture can show.
            ConfigError: Labels or titles that do not fit, an unknown letter, or a scale without extent.
        """
        low, high = scale
        table = _finite_tables(values, holes=holes)
        n_panels = table.shape[0]
        default = [""] if n_panels == 1 else [f"head {index}" for index in range(n_panels)]
        names = default if titles is None else titles
        for what, labels, expected in (
            ("row labels", rows, table.shape[1]),
            ("column labels", columns, table.shape[2]),
            ("titles", names, n_panels),
        ):
            _check_labels(what, labels, expected)
        known = table[~np.isnan(table)]
        bottom = float(known.min(initial=0.0)) if low is None else float(low)
        top = float(known.max(initial=bottom)) if high is None else float(high)
        if high is None and top == bottom:
            top = bottom + 1.0
        if not (np.isfinite([bottom, top]).all() and bottom < top):
            raise ConfigError("a scale without extent", got=f"low={low}, high={high}", expected="low below high")
        return cls(
            values=table,
            rows=tuple(rows),
            columns=tuple(columns),
            titles=tuple(names),
            axes=_read_axes(axes),
            low=bottom,
            high=top,
        )

    def share(self, value: float) -> float:
        """How far a value is on the way from the lightest to the darkest shade, between 0 and 1."""
        if math.isnan(value):
            return 0.0
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def _finite_tables(values: ArrayLike, *, holes: bool) -> Float64[np.ndarray, "panels rows columns"]:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TraceError(
            "a heatmap needs numbers", got=type(values).__name__, expected="a rectangular table of numbers"
        ) from None
    if table.ndim == 2:
        table = table[None]
    if table.ndim != 3 or table.size == 0:
        raise TraceError(
            "a heatmap needs a table, or several stacked",
            got=f"shape {table.shape}",
            expected="rows × columns, or heads × rows × columns, none of them 0",
            advice="one text of a batch: pattern[0]",
        )
    fine = np.isfinite(table) | (np.isnan(table) & holes)
    if not fine.all():
        n_bad = int((~fine).sum())
        raise TraceError("numbers that cannot be drawn", got=f"{n_bad} NaN or infinite", expected="finite numbers")
    if table.size > MAX_CELLS:
        raise TraceError(
            "too many cells for one picture",
            got=f"{table.size}",
            expected=f"at most {MAX_CELLS}",
            advice="fewer heads or a shorter text",
        )
    return table


def _check_labels(what: str, labels: Sequence[str], expected: int) -> None:
    if isinstance(labels, str) or len(labels) != expected:
        raise ConfigError(
            f"the {what} do not fit the numbers",
            got="one text" if isinstance(labels, str) else f"{len(labels)} {what}",
            expected=f"{expected}, one each",
        )


def _read_axes(letters: str) -> tuple[Axis, Axis]:
    if len(letters) != 2 or not set(letters) <= set(AXES):
        raise ConfigError("axes that the legend does not know", got=repr(letters), expected="two of " + "".join(AXES))
    return AXES[letters[0]], AXES[letters[1]]
