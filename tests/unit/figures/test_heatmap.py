"""Heatmaps: the SVG is well formed, holds every cell and label, and refuses what it cannot draw."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from clearhead.axes import AXES
from clearhead.errors import ConfigError, TraceError
from clearhead.figures import Figure, Panels, heatmap, shade
from clearhead.figures.colour import ink_on, luminance
from clearhead.figures.layout import Layout
from clearhead.figures.words import shorten, visible, width

SVG = "{http://www.w3.org/2000/svg}"


def draw(n_heads: int, rows: list[str], columns: list[str], **options: object) -> Figure:
    values = np.random.default_rng(0).dirichlet(np.ones(len(columns)), size=(n_heads, len(rows)))
    return heatmap(values, rows=rows, columns=columns, **options)


def parse(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.svg)  # noqa: S314  (we wrote it)


def texts(figure: Figure) -> list[str]:
    root = parse(figure)
    return [
        "".join(part for part in (text.text, *(child.tail for child in text)) if part)
        for text in root.iter(SVG + "text")
    ]


def test_every_cell_and_label_is_there() -> None:
    figure = draw(10, ["the", "cat"], ["sat", "on", "table"], title="ten")
    root = parse(figure)
    assert len(root.findall(f".//{SVG}rect[@class='cell']")) == 10 * 2 * 3
    written = texts(figure)
    for word in ("the", "cat", "sat", "on", "table"):
        assert written.count(word) == 10
    assert [text for text in written if text.startswith("head ")] == [f"head {index}" for index in range(10)]
    assert "ten" in written


def test_axis_titles_stand_on_the_colours_of_the_legend() -> None:
    figure = draw(1, ["a"], ["b"])
    fills = {rect.get("fill") for rect in parse(figure).iter(SVG + "rect")}
    assert {AXES["Q"].colour, AXES["K"].colour} <= fills
    assert {"Q · query position", "K · key position"} <= set(texts(figure))
    assert "D · model width" in texts(draw(1, ["a"], ["b"], axes="TD"))


def test_labels_are_escaped() -> None:
    nasty = ["<script>", "a & b", '"quoted"', "nul\0", "line\nend", "\ud800"]
    figure = draw(1, nasty, ["x"], title="</svg><script>")
    written = texts(figure)
    assert {"<script>", "a & b", '"quoted"', "nul␀", "line␊end", "\ufffd", "</svg><script>"} <= set(written)
    assert "<script>" not in figure.svg
    assert "<script>" not in figure.html


def test_values_are_written_where_there_is_room() -> None:
    assert ".25" in texts(heatmap([[0.25, 0.75]], rows=["a"], columns=["b", "c"]))
    words = [str(index) for index in range(40)]
    crowded = heatmap(np.full((40, 40), 0.25), rows=words, columns=words)
    assert ".25" not in texts(crowded)


def test_a_closed_cell_looks_different_from_a_small_one() -> None:
    assert {"0", ".00", "1", "1.0"} <= set(
        texts(heatmap([[0, 0.001], [1, 0.999]], rows=["a", "b"], columns=["c", "d"]))
    )


def test_shades_darken_all_the_way() -> None:
    steps = [luminance(shade(step / 100)) for step in range(101)]
    assert all(lighter > darker for lighter, darker in pairwise(steps))
    assert shade(-1.0) == shade(0.0)
    assert shade(2.0) == shade(1.0)


@pytest.mark.parametrize(
    "colour", [*(shade(step / 20) for step in range(21)), *(axis.colour for axis in AXES.values())]
)
def test_ink_can_be_read_on_every_colour(colour: str) -> None:
    light, dark = sorted((luminance(colour), luminance(ink_on(colour))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) > 3.9


@pytest.mark.parametrize("n_words", [1, 6, 12, 30, 60, 120, 300])
def test_labels_do_not_meet(n_words: int) -> None:
    words = [f"word-{index}" for index in range(n_words)]
    layout = Layout(panels=Panels.of(np.zeros((n_words, n_words)), rows=words, columns=words))
    apart = layout.stride * layout.cell * (0.7 if layout.turn == -45 else 1)
    assert apart >= layout.text


def test_panels_do_not_meet() -> None:
    figure = draw(
        7, ["a", "bb"], ["cc", "a-very-long-label-indeed"], titles=[f"a long title {index}" for index in range(7)]
    )
    layout = Layout(panels=figure.panels)
    corners = [layout.corner(index) for index in range(7)]
    assert len(set(corners)) == 7
    assert all(x + layout.panel_wide <= layout.grid_wide + 1e-6 for x, _ in corners)
    assert all(y + layout.panel_high <= layout.grid_high + 1e-6 for _, y in corners)


def test_everything_is_inside_the_picture() -> None:
    figure = draw(3, ["आइसक्रीम", "b"], ["a-very-long-label-indeed"] * 3, title="t")
    root = parse(figure)
    _, _, wide, high = map(float, root.get("viewBox").split())
    for rect in root.iter(SVG + "rect"):
        assert 0 <= float(rect.get("x")) <= float(rect.get("x")) + float(rect.get("width")) <= wide
        assert 0 <= float(rect.get("y")) <= float(rect.get("y")) + float(rect.get("height")) <= high
    for text in root.iter(SVG + "text"):
        if text.get("text-anchor") == "end":
            assert float(text.get("x")) - width(text.text, size=float(text.get("font-size"))) >= 0


def test_long_labels_are_cut_and_kept_as_tips() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    figure = draw(1, [word], ["x"])
    assert shorten(word, most=18) in texts(figure)
    assert f"<title>{word}</title>" in figure.svg


def test_a_cut_never_parts_a_letter_from_its_sign() -> None:
    assert shorten("मुझे", most=2) == "मुझे"
    assert shorten("आइसक्रीम", most=4) == "आइस…"
    assert shorten("abc", most=3) == "abc"
    assert visible("a\tb\x7f") == "a␉b␡"


def test_mixed_scripts_get_a_place_each() -> None:
    figure = draw(1, ["a"], ["b"], title="ice cream आइसक्रीम खाना")
    spans = [span.text for span in parse(figure).iter(SVG + "tspan")]
    assert spans == ["ice cream ", "आइसक्रीम खाना"]


WRONG_NUMBERS = {
    "NaN": [[float("nan")]],
    "infinite": [[float("inf")]],
    "empty": np.zeros((0, 3)),
    "no heads": np.zeros((0, 1, 1)),
    "one axis": [1.0],
    "four axes": np.zeros((1, 1, 1, 1)),
    "ragged": [[1.0], [1.0, 2.0]],
    "words": [["a"]],
    "too many": np.zeros((11, 100, 100)),
}


@pytest.mark.parametrize("case", WRONG_NUMBERS)
def test_numbers_that_cannot_be_drawn(case: str) -> None:
    with pytest.raises(TraceError):
        heatmap(WRONG_NUMBERS[case], rows=["a"], columns=["b"])


WRONG_LABELS = {
    "too few rows": {"rows": [], "columns": ["a", "b"]},
    "too many columns": {"rows": ["a"], "columns": ["a", "b", "c"]},
    "a text for a list": {"rows": ["a"], "columns": "ab"},
    "titles": {"rows": ["a"], "columns": ["a", "b"], "titles": ["x", "y"]},
    "unknown axis": {"rows": ["a"], "columns": ["a", "b"], "axes": "QZ"},
    "one axis": {"rows": ["a"], "columns": ["a", "b"], "axes": "Q"},
    "scale": {"rows": ["a"], "columns": ["a", "b"], "scale": (1.0, 1.0)},
    "endless scale": {"rows": ["a"], "columns": ["a", "b"], "scale": (0.0, float("inf"))},
}


@pytest.mark.parametrize("case", WRONG_LABELS)
def test_labels_that_do_not_fit(case: str) -> None:
    with pytest.raises(ConfigError):
        heatmap([[0.1, 0.9]], **WRONG_LABELS[case])
