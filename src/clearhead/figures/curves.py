"""Curves: lines over steps, with round numbers on both axes and the last value of each at its end."""

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from numpy.typing import ArrayLike

from clearhead.figures.chart import MARGIN, SWATCH, TEXT, TITLE, Chart
from clearhead.figures.figure import Figure
from clearhead.figures.inks import SERIES, group
from clearhead.figures.scale import written
from clearhead.figures.series import Curves, Series
from clearhead.figures.svg import document, label, number, rectangle
from clearhead.figures.words import shorten, visible, width

__all__ = ["curves"]

_MOST_MARKED = 40
_WIDE, _FINE = 1.9, 1.2
_OWN = "currentColor"

# A mark for every series, so that colour is not all that tells few points apart.
_MARKS = (
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0Z",
    "M-3 -3h6v6h-6Z",
    "M0 -4L3.8 3H-3.8Z",
    "M0 -4.4L4.4 0L0 4.4L-4.4 0Z",
    "M0 4L3.8 -3H-3.8Z",
    "M-1.3 -4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7Z",
    "M-4.2 -1.5h8.4v3h-8.4Z",
)
assert len(_MARKS) == len(SERIES)


def curves(
    series: Mapping[str, ArrayLike],
    *,
    title: str = "",
    x_label: str = "step",
    y_label: str = "",
    log_axes: str = "",
    events: Mapping[str, float | int] | None = None,
    size: tuple[float | int, float | int] = (480, 300),
) -> Figure:
    """A picture of one line or several.

    Args:
        series: The points of each line by its name, as rows of x and y; in any order.
        title: What the picture is called.
        x_label: What the x axis measures.
        y_label: What the y axis measures.
        log_axes: The axes on which equal steps are equal ratios: "x", "y" or "xy".
        events: Places on the x axis where something happened, by what it was.
        size: Width and height, in pixels.

    Raises:
        TraceError: Points that are not pairs of finite numbers, none, too many, or not above 0 on a
            logarithmic axis.
        ConfigError: No line, more than can be told apart, or an axis that is not x or y.
    """
    lines = Curves.of(series, x_label=x_label, y_label=y_label, log_axes=log_axes, events=events)
    chart = Chart(curves=lines, title=title, wide=max(float(size[0]), 280.0), high=max(float(size[1]), 160.0))
    return Figure(title=title, svg=_draw(chart), panels=lines)


def _draw(chart: Chart) -> str:
    groups = [
        group("paper", [rectangle(0.0, 0.0, chart.wide, chart.high, fill=_OWN)]),
        group("grid", list(_grid(chart))),
        group("faint", list(_axes(chart))),
        *(_line(chart, index, each) for index, each in enumerate(chart.curves.series)),
        group("ink", list(_names(chart))),
    ]
    name = chart.title or chart.curves.y_label or "curves"
    return document(groups, wide=chart.wide, high=chart.high, title=name, background="none")


def _grid(chart: Chart) -> Iterator[str]:
    for tick in chart.y.ticks:
        yield rectangle(chart.left, chart.down(tick) - 0.5, chart.right - chart.left, 1.0, fill=_OWN)
    for tick in chart.x.ticks:
        yield rectangle(chart.across(tick) - 0.5, chart.bottom, 1.0, 5.0, fill=_OWN)


def _axes(chart: Chart) -> Iterator[str]:
    """The numbers and names of both axes, and what happened on the way."""
    for tick, text in zip(chart.y.ticks, chart.y.labels, strict=True):
        yield label(text, chart.left - 6, chart.down(tick) + TEXT * 0.35, size=TEXT, anchor="end", fill=_OWN)
    end = -1.0
    for tick, text in zip(chart.x.ticks, chart.x.labels, strict=True):
        half, middle = width(text, size=TEXT) / 2, chart.across(tick)
        if middle - half > end:
            yield label(text, middle, chart.bottom + 5 + TEXT, size=TEXT, anchor="middle", fill=_OWN)
            end = middle + half + 8
    if chart.curves.x_label:
        middle, foot = (chart.left + chart.right) / 2, chart.high - MARGIN
        yield label(chart.curves.x_label, middle, foot, size=TEXT, anchor="middle", fill=_OWN)
    if chart.curves.y_label:
        yield label(chart.y_name, MARGIN, chart.top - 12, size=TEXT, fill=_OWN)
    yield from _events(chart)


def _events(chart: Chart) -> Iterator[str]:
    """Dashed lines down the chart, each with its name above unless another's is in the way."""
    taken = chart.left if not chart.y_name else MARGIN + width(chart.y_name, size=TEXT) + 10
    for name, place in sorted(chart.curves.events.items(), key=lambda event: event[1]):
        if not 0.0 <= chart.x.share(place) <= 1.0:
            continue
        x = chart.across(place)
        reach = f'x1="{number(x)}" x2="{number(x)}" y1="{number(chart.top)}" y2="{number(chart.bottom)}"'
        yield f'<line {reach} stroke="{_OWN}" stroke-dasharray="2 3"/>'
        half = width(visible(name), size=TEXT) / 2
        middle = min(max(x, taken + half), chart.wide - MARGIN - half)
        if middle - half >= taken:
            yield label(name, middle, chart.top - 12, size=TEXT, anchor="middle", fill=_OWN)
            taken = middle + half + 10


def _line(chart: Chart, index: int, series: Series) -> str:
    """A line, with a mark on every point where they are few."""
    columns = max(1, int(chart.right - chart.left))
    thinned = series.thinned(columns, logarithmic=chart.x.logarithmic).tolist()
    points = [(chart.across(x), chart.down(y)) for x, y in thinned]
    marks = [_path(points, wide=_WIDE if _is_marked(series) else _FINE)] if len(points) > 1 else []
    if _is_marked(series):
        for (x, y), (place, value) in zip(points, thinned, strict=True):
            tip = f"{chart.names[index]}, {chart.curves.x_label} {place:g}: {value:.6g}"
            marks.append(_mark(index, x, y, tip=visible(tip)))
    if chart.legend:
        marks.append(_mark(index, chart.right + chart.beside - 8, chart.end_labels[index]))
        x, y = chart.legend[index]
        marks.append(_path([(x, y - 4), (x + SWATCH, y - 4)], wide=_WIDE))
        if _is_marked(series):
            marks.append(_mark(index, x + SWATCH / 2, y - 4))
    return f'<g class="chart-series" color="{SERIES[index]}">\n' + "\n".join(marks) + "\n</g>"


def _names(chart: Chart) -> Iterator[str]:
    """The title, the legend and the last values."""
    if chart.title:
        room = int((chart.wide - 2 * MARGIN) / (TITLE * 0.6))
        yield label(shorten(visible(chart.title), most=room), MARGIN, MARGIN + TITLE, size=TITLE, fill=_OWN)
    for name, (x, y) in zip(chart.names, chart.legend, strict=False):
        yield label(name, x + SWATCH + 6, y, size=TEXT, fill=_OWN)
    for each, height in zip(chart.curves.series, chart.end_labels, strict=True):
        yield label(written(each.last), chart.right + chart.beside, height + TEXT * 0.35, size=TEXT, fill=_OWN)


def _is_marked(series: Series) -> bool:
    return len(series.points) <= _MOST_MARKED


def _path(points: Sequence[tuple[float, float]], *, wide: float) -> str:
    places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    line = f'fill="none" stroke="{_OWN}" stroke-width="{number(wide)}" stroke-linejoin="round"'
    return f'<polyline points="{places}" {line}/>'


def _mark(index: int, x: float, y: float, *, tip: str = "") -> str:
    place = f'd="{_MARKS[index]}" transform="translate({number(x)} {number(y)})" fill="{_OWN}"'
    return f"<path {place}><title>{escape(tip)}</title></path>" if tip else f"<path {place}/>"
