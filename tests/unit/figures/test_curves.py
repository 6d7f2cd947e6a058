"""Curves: every line is drawn, nothing is lost by thinning, numbers are round, and no two texts meet."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from clearhead.errors import ClearheadError, ConfigError, TraceError
from clearhead.figures import Curves, Figure, curves
from clearhead.figures.chart import TEXT, Chart
from clearhead.figures.colour import luminance
from clearhead.figures.inks import DARK, LIGHT, SERIES
from clearhead.figures.scale import Scale, written
from clearhead.figures.series import Series
from clearhead.figures.words import width

SVG = "{http://www.w3.org/2000/svg}"
FALL = [(step, 9 / step) for step in range(1, 9)]


def parse(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.svg)  # noqa: S314  (we wrote it)


def texts(figure: Figure) -> list[str]:
    return ["".join(text.itertext()) for text in parse(figure).iter(SVG + "text")]


def lines(figure: Figure) -> list[ET.Element]:
    """The polylines of the series themselves; those of the legend have two points at one height."""
    found = parse(figure).findall(f".//{SVG}g[@class='chart-series']")
    return [line for group in found for line in group.findall(SVG + "polyline")[:1]]


def chart(figure: Figure, *, wide: float = 480.0, high: float = 300.0) -> Chart:
    assert isinstance(figure.panels, Curves)
    return Chart(curves=figure.panels, title=figure.title, wide=wide, high=high)


def test_every_series_has_its_line_its_colour_and_its_name() -> None:
    figure = curves({"training": FALL, "validation": FALL[::2]}, title="Loss", y_label="nats", x_label="step")
    groups = parse(figure).findall(f".//{SVG}g[@class='chart-series']")
    assert [group.get("color") for group in groups] == list(SERIES[:2])
    assert [len(line.attrib["points"].split()) for line in lines(figure)] == [8, 4]
    assert {"Loss", "training", "validation", "nats", "step"} <= set(texts(figure))


def test_the_last_value_stands_at_the_end_of_each_line() -> None:
    written_texts = texts(curves({"a": [(1, 3), (2, 0.512)], "b": [(1, 3), (2, 23.44)]}))
    assert {"0.512", "23.4"} <= set(written_texts)


def test_few_points_are_marked_and_many_are_not() -> None:
    tips = [tip.text for tip in parse(curves({"a & b": FALL})).iter(SVG + "title")]
    assert "a & b, step 2: 4.5" in tips
    many = curves({"a": [(step, step % 7) for step in range(500)]})
    assert parse(many).find(f".//{SVG}path") is None


def test_a_single_point_is_a_mark_without_a_line() -> None:
    figure = curves({"a": [(3, 5)]})
    assert lines(figure) == []
    assert len(parse(figure).findall(f".//{SVG}path")) == 1


def test_points_may_come_in_any_order() -> None:
    assert curves({"a": FALL[::-1]}).svg == curves({"a": FALL}).svg


@pytest.mark.parametrize("logarithmic", [False, True])
def test_thinning_keeps_the_ends_and_the_extremes(logarithmic: bool) -> None:
    points = np.stack([np.arange(1.0, 50_001.0), np.random.default_rng(0).normal(size=50_000)], axis=1)
    points[31_234, 1], points[41_234, 1] = 99.0, -99.0
    thinned = Series(name="", points=points).thinned(100, logarithmic=logarithmic)
    assert len(thinned) <= 400
    kept = {tuple(point) for point in thinned.tolist()}
    for index in (0, 31_234, 41_234, 49_999):
        assert tuple(points[index].tolist()) in kept
    assert (np.diff(thinned[:, 0]) > 0).all()


def test_a_peak_among_thousands_of_points_is_drawn() -> None:
    points = [(step, 9.0 if step == 4321 else 1.0) for step in range(20_000)]
    line = lines(curves({"a": points}))[0]
    heights = [float(pair.split(",")[1]) for pair in line.attrib["points"].split()]
    assert min(heights) < max(heights) - 100
    assert len(heights) < 2000


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 10.0, ["0", "2", "4", "6", "8", "10"]),
        (0.0, 0.0003, ["0", "1e-4", "2e-4", "3e-4"]),
        (0.0, 20_000.0, ["0", "5k", "10k", "15k", "20k"]),
        (-1.0, 1.0, ["-1.0", "-0.5", "0", "0.5", "1.0"]),
        (2.31, 2.34, ["2.31", "2.32", "2.33", "2.34"]),
        (1e6, 3e6, ["1.0M", "1.5M", "2.0M", "2.5M", "3.0M"]),
    ],
)
def test_numbers_on_an_axis_are_round(low: float, high: float, labels: list[str]) -> None:
    assert Scale.over(low, high).labels == labels


def test_a_logarithmic_axis_shows_ratios() -> None:
    scale = Scale.over(1.0, 1000.0, logarithmic=True)
    assert scale.labels == ["1", "10", "100", "1000"]
    assert [scale.share(tick) for tick in (1.0, 10.0, 1000.0)] == pytest.approx([0, 1 / 3, 1])
    assert "perplexity, logarithmic" in texts(curves({"a": FALL}, log_axes="y", y_label="perplexity"))


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-90, 5e-324, 1e16, 1e100, -1e100])
def test_a_flat_line_has_an_axis(value: float) -> None:
    figure = curves({"a": [(1, value), (2, value)]})
    assert chart(figure).y.low < chart(figure).y.high
    assert len(chart(figure).y.ticks) >= 2
    assert "nan" not in figure.svg


def test_extremes_share_an_axis() -> None:
    figure = curves({"a": [(1, -1e100), (2, 1e100)], "b": [(1e100, 1e-300), (-1e100, 0)]})
    assert "nan" not in figure.svg
    assert "inf" not in figure.svg


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5123, "0.512"), (-2, "-2"), (1234, "1234"), (12_340, "12.3k"), (3e-4, "3e-4"), (2e20, "2e20")],
)
def test_a_number_in_few_characters(value: float, text: str) -> None:
    assert written(float(value)) == text


def test_last_values_that_are_close_are_moved_apart() -> None:
    figure = curves({str(n): [(0, 0), (1, 5 + n / 1000)] for n in range(len(SERIES))})
    heights = sorted(chart(figure).end_labels)
    assert all(below - above >= TEXT for above, below in pairwise(heights))
    assert chart(figure).top <= heights[0] and heights[-1] <= chart(figure).bottom


def test_the_legend_wraps_inside_the_picture() -> None:
    figure = curves({f"a rather long name {n}": FALL for n in range(6)})
    measures = chart(figure)
    assert len({y for _, y in measures.legend}) > 1
    for name, (x, _) in zip(measures.names, measures.legend, strict=True):
        assert x + width(name, size=TEXT) < 480
    assert measures.legend[-1][1] < measures.top < measures.bottom


def test_an_event_is_a_dashed_line_unless_it_is_elsewhere() -> None:
    figure = curves({"a": FALL}, events={"best": 5, "never": 500})
    dashed = [line for line in parse(figure).iter(SVG + "line") if line.get("stroke-dasharray")]
    assert [float(line.attrib["x1"]) for line in dashed] == pytest.approx([chart(figure).across(5.0)], abs=0.01)
    assert "best" in texts(figure)
    assert "never" not in texts(figure)


def test_names_are_escaped() -> None:
    figure = curves({"<script>": FALL, "nul\0": FALL}, title="</svg>", y_label="<b>", events={"<i>": 2})
    assert {"<script>", "nul␀", "</svg>", "<b>", "<i>"} <= set(texts(figure))
    assert "<script>" not in figure.html


def test_every_form_is_drawn() -> None:
    figure = curves({"loss": FALL}, title="Loss")
    assert figure.png.startswith(b"\x89PNG")
    assert "prefers-color-scheme: dark" in figure.html
    assert all(f".chart-{kind}" in figure.html for kind in DARK)
    assert figure.terminal().splitlines()[0] == "Loss"
    assert figure._repr_html_() == figure.svg


def test_a_terminal_shows_the_course_of_each_series() -> None:
    up, down = [(n, n) for n in range(80)], [(n, -n) for n in range(40, 80)]
    title_less = curves({"up": up, "down": down}).terminal(width=60).splitlines()
    assert title_less[0] == "step 0 to 79"
    rising, falling = title_less[1:]
    assert rising.startswith("up   ▁▁") and rising.endswith("█ 0 → 79")
    assert falling.startswith("down   ") and falling.endswith("▁ -40 → -79")
    assert all(len(line) <= 60 for line in title_less)


def test_lines_can_be_seen_on_light_and_on_dark_paper() -> None:
    def contrast(one: str, other: str) -> float:
        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    for inks in (LIGHT, DARK):
        assert contrast(inks["ink"], inks["paper"]) > 7
        assert contrast(inks["faint"], inks["paper"]) > 4.5
        assert all(contrast(colour, inks["paper"]) > 3 for colour in SERIES[:3])
        assert all(contrast(colour, inks["paper"]) > 2 for colour in SERIES)


@pytest.mark.parametrize(
    ("series", "options", "kind"),
    [
        ({}, {}, ConfigError),
        ({str(n): FALL for n in range(len(SERIES) + 1)}, {}, ConfigError),
        ({"a": FALL}, {"log_axes": "z"}, ConfigError),
        ({"a": []}, {}, TraceError),
        ({"a": [1, 2, 3]}, {}, TraceError),
        ({"a": [(1, 2, 3)]}, {}, TraceError),
        ({"a": [(1, "two")]}, {}, TraceError),
        ({"a": [(1, float("nan"))]}, {}, TraceError),
        ({"a": [(1, float("inf"))]}, {}, TraceError),
        ({"a": [(1, 0)]}, {"log_axes": "y"}, TraceError),
        ({"a": [(0, 1)]}, {"log_axes": "x"}, TraceError),
        ({"a": FALL}, {"events": {"b": float("nan")}}, TraceError),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    series: dict[str, list[object]], options: dict[str, object], kind: type[ClearheadError]
) -> None:
    with pytest.raises(kind):
        curves(series, **options)
