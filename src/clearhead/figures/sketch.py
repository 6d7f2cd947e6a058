"""A sketch: what a picture without a table or a curve looks like in a terminal, and the frame it is drawn in."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from clearhead.errors import ConfigError, TraceError
from clearhead.figures.inks import group
from clearhead.figures.svg import document, label, rectangle
from clearhead.figures.words import visible, width

__all__ = ["MARGIN", "MOST_MARKS", "TEXT", "Sketch", "check_count", "check_like", "cut", "framed", "line"]

TEXT = 13.0
MOST_MARKS = 4000
MARGIN = 16.0
_TITLE = 15.0


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """The lines of a picture in a terminal.

    Attributes:
        lines: They are cut where the terminal ends.
    """

    lines: tuple[str, ...]


def cut(text: str, most: int) -> str:
    """A line that fits a terminal; one that does not ends in an ellipsis."""
    return text if cell_len(text) <= most else set_cell_size(text, max(1, most - 1)) + "…"


def line(x1: float, y1: float, x2: float, y2: float, *, wide: float = 1.0, share: float = 1.0) -> str:
    """A straight line in the ink of its group."""
    places = f'x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"'
    return f'<line {places} stroke="currentColor" stroke-width="{wide:.2f}" stroke-opacity="{share:.3f}"/>'


def framed(marks: Sequence[str], *, wide: float, high: float, title: str) -> str:
    """Marks below a title, on paper; the marks begin at the origin."""
    head = _TITLE * 1.8 if title else 0.0
    wide = max(wide, width(visible(title), size=_TITLE)) + 2 * MARGIN
    high = high + head + 2 * MARGIN
    paper = group("paper", [rectangle(0.0, 0.0, wide, high, fill="currentColor")])
    above = [group("ink", [label(title, MARGIN, MARGIN + _TITLE, size=_TITLE, fill="currentColor")])] if title else []
    body = f'<g transform="translate({MARGIN:.0f} {MARGIN + head:.1f})">' + "\n".join(marks) + "</g>"
    return document([paper, *above, body], wide=wide, high=high, title=title or "picture", background="none")


def check_count(what: str, n: int) -> None:
    """Refuses an empty picture, and one that nobody could read.

    Raises:
        TraceError: Nothing to draw, or too much.
    """
    if not 0 < n <= MOST_MARKS:
        raise TraceError(f"{what} that cannot be drawn", got=n, expected=f"1 to {MOST_MARKS}")


def check_like(what: str, found: int, expected: int) -> None:
    """Refuses labels that do not fit the numbers.

    Raises:
        ConfigError: Another number of them.
    """
    if found != expected:
        raise ConfigError(f"the {what} do not fit the numbers", got=f"{found} {what}", expected=f"{expected}, one each")
