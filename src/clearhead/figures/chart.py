"""Where everything of a chart goes, so that no two texts meet."""

from dataclasses import dataclass
from functools import cached_property

from clearhead.figures.scale import Scale, written
from clearhead.figures.series import Curves
from clearhead.figures.words import shorten, visible, width

__all__ = ["MARGIN", "SWATCH", "TEXT", "TITLE", "Chart"]

MARGIN = 10.0
TITLE = 15.0
TEXT = 12.0
SWATCH = 18.0
_LINE = 17.0
_MOST_LETTERS = 28


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The measures of a chart, in pixels.

    Attributes:
        curves: What it shows.
        title: What it is called.
        wide: Its width.
        high: Its height.
    """

    curves: Curves
    title: str
    wide: float
    high: float

    @cached_property
    def x(self) -> Scale:
        """The scale across."""
        places = [float(place) for each in self.curves.series for place in (each.points[0, 0], each.points[-1, 0])]
        low, high, logarithmic = min(places), max(places), "x" in self.curves.log_axes
        if 0 < low < high / 20 and not logarithmic:
            low = 0.0  # steps are counted from one; an axis that begins with nothing reads better
        return Scale.over(low, high, logarithmic=logarithmic, n_ticks=max(2, int(self.wide // 80)))

    @cached_property
    def y(self) -> Scale:
        """The scale up."""
        low = min(float(each.points[:, 1].min()) for each in self.curves.series)
        high = max(float(each.points[:, 1].max()) for each in self.curves.series)
        room = max(2, int((self.high - 90) // 36))
        return Scale.over(low, high, logarithmic="y" in self.curves.log_axes, n_ticks=room, rounded=True)

    @cached_property
    def names(self) -> list[str]:
        """The names as they are written."""
        return [shorten(visible(each.name), most=_MOST_LETTERS) for each in self.curves.series]

    @cached_property
    def y_name(self) -> str:
        """What the y axis measures, and how."""
        name = visible(self.curves.y_label)
        return f"{name}, logarithmic" if name and self.y.logarithmic else name

    @cached_property
    def legend(self) -> list[tuple[float, float]]:
        """Where each name of the legend begins, in as many lines as they need; none for a line alone."""
        if len(self.names) < 2:
            return []
        places: list[tuple[float, float]] = []
        x, y = MARGIN, MARGIN + (TITLE * 1.7 if self.title else 0.0) + TEXT * 0.8
        for name in self.names:
            wide = SWATCH + 6 + width(name, size=TEXT)
            if x > MARGIN and x + wide > self.wide - MARGIN:
                x, y = MARGIN, y + _LINE
            places.append((x, y))
            x += wide + 16
        return places

    @cached_property
    def top(self) -> float:
        """Where the lines' field begins."""
        over = self.legend[-1][1] + 8 if self.legend else MARGIN + (TITLE * 1.5 if self.title else 0.0)
        return over + (_LINE if self.curves.y_label or self.curves.events else 0.0) + 8

    @cached_property
    def bottom(self) -> float:
        """Where it ends."""
        return self.high - MARGIN - TEXT * 1.7 - (_LINE if self.curves.x_label else 0.0)

    @cached_property
    def left(self) -> float:
        """Where it begins, right of the numbers."""
        return MARGIN + max((width(text, size=TEXT) for text in self.y.labels), default=0.0) + 6

    @property
    def beside(self) -> float:
        """How far the last values stand from the field; marks stand between where there are several lines."""
        return 22.0 if self.legend else 8.0

    @cached_property
    def right(self) -> float:
        """Where it ends, left of the last values."""
        longest = max(width(written(each.last), size=TEXT) for each in self.curves.series)
        return self.wide - MARGIN - longest - self.beside

    def across(self, place: float) -> float:
        """Where a place of the x axis is."""
        return self.left + self.x.share(place) * (self.right - self.left)

    def down(self, value: float) -> float:
        """Where a value of the y axis is."""
        return self.bottom - self.y.share(value) * (self.bottom - self.top)

    @cached_property
    def end_labels(self) -> list[float]:
        """The height of each last value, moved apart where two would meet."""
        wanted = [self.down(each.last) for each in self.curves.series]
        order = sorted(range(len(wanted)), key=wanted.__getitem__)
        gap = TEXT * 1.15
        heights, least = list(wanted), self.top
        for index in order:
            heights[index] = least = max(wanted[index], least)
            least += gap
        most = self.bottom
        for index in reversed(order):
            heights[index] = most = min(heights[index], most)
            most -= gap
        return heights
