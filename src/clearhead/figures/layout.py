"""Where everything of a heatmap goes, so that no two texts meet."""

import math
from dataclasses import dataclass
from functools import cached_property

from clearhead.figures.panels import Panels
from clearhead.figures.words import shorten, visible, width

__all__ = ["Layout"]

_MOST_WIDE = 1160.0
_MOST_LETTERS = 18
_TEXT = 12.0
_LEAST_TEXT = 6.0
_GAP = 20.0
_AIR = 6.0

_SMALL = 32.0
_FEW_PANELS = 3
# The most rows or columns that a cell of each size is for.
_CELLS = ((6, 44.0), (10, 36.0), (16, 24.0), (32, 16.0), (64, 11.0), (128, 7.0))


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The measures of a heatmap, in pixels."""

    panels: Panels

    @cached_property
    def cell(self) -> float:
        """The side of a cell: the more cells, the smaller."""
        n_most = max(len(self.panels.rows), len(self.panels.columns))
        side = next((side for most, side in _CELLS if n_most <= most), max(2.0, 900 / n_most))
        return side if len(self.panels.titles) <= _FEW_PANELS else min(side, _SMALL)

    @cached_property
    def text(self) -> float:
        """The size of the labels' letters."""
        return max(_LEAST_TEXT, min(_TEXT, self.cell * 0.88))

    @cached_property
    def stride(self) -> int:
        """Every how many rows or columns a label is written: each, unless they would meet."""
        return max(1, math.ceil(self.text * 1.1 / self.cell))

    @cached_property
    def turn(self) -> float:
        """The angle of column labels: slanted where lines stay apart, upright where cells are narrow."""
        return -45.0 if self.cell * math.sin(math.pi / 4) >= self.text * 1.25 else -90.0

    @cached_property
    def row_labels(self) -> list[str]:
        """The row labels as they are written."""
        return [_written(word) for word in self.panels.rows]

    @cached_property
    def column_labels(self) -> list[str]:
        """The column labels as they are written."""
        return [_written(word) for word in self.panels.columns]

    @cached_property
    def left(self) -> float:
        """The room that row labels take."""
        return max(width(word, size=self.text) for word in self.row_labels) + _AIR

    @cached_property
    def above(self) -> float:
        """The room that column labels take."""
        longest = max(width(word, size=self.text) for word in self.column_labels)
        return longest * math.sin(math.radians(-self.turn)) + self.text + _AIR

    @cached_property
    def right(self) -> float:
        """How far slanted column labels reach beyond the last column."""
        cosine = math.cos(math.radians(-self.turn))
        reach = (
            (index + 0.5) * self.cell + width(word, size=self.text) * cosine + self.text
            for index, word in enumerate(self.column_labels)
        )
        return max(0.0, max(reach) - self.cells_wide)

    @cached_property
    def over(self) -> float:
        """The room that a panel's title takes."""
        return _TEXT * 1.6 if any(self.panels.titles) else 0.0

    @cached_property
    def cells_wide(self) -> float:
        """The width of a panel's cells."""
        return self.cell * len(self.panels.columns)

    @cached_property
    def cells_high(self) -> float:
        """The height of a panel's cells."""
        return self.cell * len(self.panels.rows)

    @cached_property
    def panel_wide(self) -> float:
        """The width of a panel with all its labels."""
        titled = max(width(visible(title), size=_TEXT) for title in self.panels.titles)
        return self.left + max(self.cells_wide + self.right, titled)

    @cached_property
    def panel_high(self) -> float:
        """The height of a panel with all its labels."""
        return self.over + self.above + self.cells_high

    @cached_property
    def n_across(self) -> int:
        """How many panels stand side by side: as many as fit, unless fewer leave less of the last row empty."""
        n_panels = len(self.panels.titles)
        fit = min(n_panels, max(1, int((_MOST_WIDE + _GAP) // (self.panel_wide + _GAP))))
        return min(range(fit, fit // 2, -1), key=lambda n_across: -n_panels % n_across)

    @cached_property
    def n_down(self) -> int:
        """How many rows of panels there are."""
        return math.ceil(len(self.panels.titles) / self.n_across)

    @cached_property
    def grid_wide(self) -> float:
        """The width of all panels."""
        return self.n_across * (self.panel_wide + _GAP) - _GAP

    @cached_property
    def grid_high(self) -> float:
        """The height of all panels."""
        return self.n_down * (self.panel_high + _GAP) - _GAP

    def corner(self, index: int) -> tuple[float, float]:
        """Where a panel begins, from the corner of the grid."""
        down, across = divmod(index, self.n_across)
        return across * (self.panel_wide + _GAP), down * (self.panel_high + _GAP)


def _written(word: str) -> str:
    return shorten(visible(word), most=_MOST_LETTERS)
