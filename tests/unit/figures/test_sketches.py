"""Alignments, bars, maps, trees and tables of words: right where they are right, refused where they cannot be drawn."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import ConfigError, TraceError
from clearhead.figures import Branch, Figure, alignment, bars, scatter, tree, word_table

BRANCHES = [
    Branch(word="le", parent=-1, fate="best", score=-0.1),
    Branch(word="la", parent=-1, fate="running", score=-2.0),
    Branch(word="chat", parent=0, fate="best", score=-0.2),
    Branch(word="<script>", parent=0, fate="dropped", score=-9.0),
]
FIGURES = {
    "alignment": alignment([[0.9, 0.1], [0.2, 0.8]], above=["the", "cat"], below=["बिल्ली", "le"], title="who"),
    "bars": bars([1.5, -0.5, 0.0], names=["a", "b<", "c"]),
    "scatter": scatter(np.random.default_rng(0).normal(size=(5, 7)), names=list("abcde"), kinds=[0, 1, 0, 1, 2]),
    "tree": tree(BRANCHES, title="beams"),
    "words": word_table([["a", "b"], ["c", "d"]], [[0.1, 1.0], [0.5, 0.0]], rows=["1", "0"], columns=["x", "y"]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_whole_in_every_form(name: str, tmp_path: Path) -> None:
    figure: Figure = FIGURES[name]
    assert ET.fromstring(figure.svg).tag.endswith("svg")  # noqa: S314  (our own)
    assert figure.save(tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    page = figure.save(tmp_path / "x.html").read_text()
    assert "prefers-color-scheme: dark" in page and not re.search(r"(src|href)=", page) and "<script" not in page
    assert all(len(line) <= 40 for line in figure.terminal(width=40).splitlines())


def test_the_widest_line_is_the_greatest_weight() -> None:
    widths = [float(one) for one in re.findall(r'stroke-width="([\d.]+)"', FIGURES["alignment"].svg)]
    assert max(widths) == 4.5 and len(widths) == 4
    assert "← the 0.90" in FIGURES["alignment"].terminal()


def test_bars_point_both_ways() -> None:
    text = FIGURES["bars"].terminal()
    assert "+1.5000" in text and "-0.5000" in text


def test_alike_points_stand_together() -> None:
    near = scatter([[0, 0, 0], [0.1, 0, 0], [9, 9, 9]], names=["a", "b", "c"])
    places = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', near.svg)]
    assert abs(places[0][0] - places[1][0]) < abs(places[0][0] - places[2][0])


def test_a_tree_shows_what_died() -> None:
    text = FIGURES["tree"].terminal()
    assert "★le" in text and "×" in text and "├─ ★chat" in text


@pytest.mark.parametrize(
    "draw",
    [
        lambda: alignment([[np.nan]], above=["a"], below=["b"]),
        lambda: alignment(np.ones((100, 100)), above=["a"] * 100, below=["b"] * 100),
        lambda: bars([], names=[]),
        lambda: bars([np.inf], names=["a"]),
        lambda: scatter([[1.0]], names=["a"]),
        lambda: tree([]),
        lambda: word_table([["a"]], [[2.0]], rows=["r"], columns=["c"]),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: object) -> None:
    with pytest.raises(TraceError):
        draw()  # type: ignore[operator]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: alignment([[1.0]], above=["a", "b"], below=["b"]),
        lambda: bars([1.0], names=[]),
        lambda: scatter([[1.0, 2.0]], names=["a", "b"]),
        lambda: word_table([["a"]], [[0.5]], rows=["r", "s"], columns=["c"]),
    ],
)
def test_labels_that_do_not_fit_are_refused(draw: object) -> None:
    with pytest.raises(ConfigError):
        draw()  # type: ignore[operator]
