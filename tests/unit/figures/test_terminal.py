"""Heatmaps in a terminal fit its width, and are plain where colour is not wanted."""

import numpy as np
import pytest
from rich.cells import cell_len

from clearhead.figures import Figure, heatmap
from clearhead.figures.terminal import wants_colour


def draw(n_heads: int, n_words: int, word: str = "word") -> Figure:
    words = [f"{word}{index}" for index in range(n_words)]
    values = np.random.default_rng(0).dirichlet(np.ones(n_words), size=(n_heads, n_words))
    return heatmap(values, rows=words, columns=words, title="title")


@pytest.mark.parametrize("width", [30, 80, 120])
@pytest.mark.parametrize(("n_heads", "n_words"), [(1, 2), (10, 5), (3, 20), (1, 50)])
def test_lines_fit(width: int, n_heads: int, n_words: int) -> None:
    lines = draw(n_heads, n_words).terminal(width=width, colour=False).splitlines()
    assert max(map(cell_len, lines[3:])) <= width


def test_few_columns_carry_words_and_numbers() -> None:
    text = heatmap([[0.0, 1.0], [0.5, 0.25]], rows=["a", "b"], columns=["c", "d"], title="t").terminal(colour=False)
    assert text.splitlines()[-3:] == ["  c     d", "a   0   ██1", "b ▒▒.50 ░░.25"]


def test_many_columns_are_numbered_and_named_below() -> None:
    text = draw(1, 30).terminal(width=80, colour=False)
    assert "columns: 0 word0 1 word1" in text
    assert "29 word29" in text


def test_what_does_not_fit_is_said() -> None:
    assert "more columns do not fit" in draw(1, 40).terminal(width=40, colour=False)


def test_colour_is_used_when_asked_for() -> None:
    assert "\x1b[48;5;" in draw(1, 3).terminal(colour=True)
    assert "\x1b" not in draw(1, 3).terminal(colour=False)


def test_wide_and_hindi_labels_are_cut_to_fit() -> None:
    for word in ("मुझेआइसक्रीमखाना", "漢字漢字漢字漢字"):
        lines = draw(1, 3, word).terminal(width=60, colour=False).splitlines()
        assert max(map(cell_len, lines[3:])) <= 60


def test_no_colour_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour()
    assert "\x1b" not in draw(1, 3).terminal()


def test_a_pipe_has_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    assert "\x1b" not in draw(1, 3).terminal()
