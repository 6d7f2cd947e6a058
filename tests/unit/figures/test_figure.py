"""Figures are saved whole, in every form."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import ConfigError
from clearhead.figures import heatmap

FIGURE = heatmap(np.eye(2), rows=["मुझे", "b"], columns=["c", "d"], title="a & b")


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<svg "), ("a.png", b"\x89PNG"), ("a.html", b"<!doctype html>"), ("b.SVG", b"<svg ")]
)
def test_a_file_of_every_kind(tmp_path: Path, name: str, start: bytes) -> None:
    path = FIGURE.save(tmp_path / "new" / name)
    assert path.read_bytes().startswith(start)
    assert [file.name for file in path.parent.iterdir()] == [name]


def test_the_page_loads_nothing() -> None:
    class Links(HTMLParser):
        found: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found += [name for name, _ in attrs if name in ("src", "href", "xlink:href")]

    parser = Links()
    parser.feed(FIGURE.html)
    assert parser.found == []
    assert "url(" not in FIGURE.html
    assert FIGURE._repr_html_() == FIGURE.svg


def test_hindi_is_drawn() -> None:
    blank = heatmap(np.eye(2), rows=["", "b"], columns=["c", "d"], title="a & b")
    assert len(FIGURE.png) > len(blank.png)


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.svg.gz"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        FIGURE.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ConfigError, match="cannot be saved"):
        FIGURE.save(tmp_path / "file" / "a.svg")
    assert (tmp_path / "file").read_text() == "kept"


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.svg" / "inside").mkdir(parents=True)
    with pytest.raises(ConfigError):
        FIGURE.save(tmp_path / "a.svg")
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]
