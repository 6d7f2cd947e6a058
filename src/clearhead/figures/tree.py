"""Trees of words: every way that a search followed, also those that died."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.figures.figure import Figure
from clearhead.figures.inks import group
from clearhead.figures.sketch import TEXT, Sketch, check_count, framed, line
from clearhead.figures.svg import label, rectangle
from clearhead.figures.words import shorten, visible, width

__all__ = ["Branch", "tree"]

_HIGH = 26.0
_GAP = 28.0
_ROUND = 4.0
_MOST_LETTERS = 14
_FILLS = {"best": "#0072b2", "finished": "#009e73", "running": "#dcdce3", "dropped": "#ffffff"}
_INKS = {"best": "#ffffff", "finished": "#ffffff", "running": "#1c1c28", "dropped": "#5b5b6b"}
_MARKS = {"best": "★", "finished": "✓", "running": " ", "dropped": "×"}


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One step of one way.

    Attributes:
        word: What was added.
        parent: The place of the step before it among the branches; -1 where it is the first.
        fate: "best", "finished", "running" or "dropped".
        score: What it was ranked by.
    """

    word: str
    parent: int
    fate: str
    score: float


def tree(branches: Sequence[Branch], *, title: str = "") -> Figure:
    """A picture of branches, from the left to the right.

    Args:
        branches: Every branch after its parent.
        title: What the picture is called.

    Raises:
        TraceError: No branch, or more than a picture can show.
    """
    check_count("branches", len(branches))
    children: dict[int, list[int]] = {}
    for place, branch in enumerate(branches):
        assert -1 <= branch.parent < place, "a branch comes after its parent"
        children.setdefault(branch.parent, []).append(place)
    rows, depths = _laid_out(children, len(branches))
    short = [shorten(visible(branch.word), most=_MOST_LETTERS) or " " for branch in branches]
    widths = [width(word, size=TEXT) + 12 for word in short]
    columns = _columns(depths, widths)
    lines: list[str] = []
    boxes: list[str] = []
    for place, branch in enumerate(branches):
        x, y = columns[depths[place]], rows[place] * _HIGH
        if branch.parent >= 0:
            before = branch.parent
            start = columns[depths[before]] + widths[before]
            lines.append(line(start, rows[before] * _HIGH + _HIGH / 2, x, y + _HIGH / 2))
        tip = f"{branch.word}: {branch.score:.4f}, {branch.fate}"
        boxes.append(
            rectangle(
                x, y + 3, widths[place], _HIGH - 6, fill=_FILLS[branch.fate], kind=branch.fate, tip=tip, radius=4.0
            )
        )
        boxes.append(label(short[place], x + 6, y + _HIGH * 0.66, size=TEXT, fill=_INKS[branch.fate]))
        score = f"{branch.score:.2f}"
        lines.append(label(score, x + 1, y + 2, size=8.0, fill="currentColor"))
    wide = max(columns[depths[place]] + widths[place] for place in range(len(branches)))
    high = (max(rows) + 1) * _HIGH
    svg = framed([group("faint", lines), *boxes], wide=wide, high=high, title=title)
    return Figure(title=title, svg=svg, panels=Sketch(lines=tuple(_lines(branches, children))))


def _laid_out(children: dict[int, list[int]], n: int) -> tuple[list[float], list[int]]:
    """The row of each branch, in the middle of those after it, and how many come before it."""
    rows, depths = [0.0] * n, [0] * n
    order: list[int] = []
    pending = list(reversed(children.get(-1, [])))
    leaf = 0
    while pending:
        place = pending.pop()
        order.append(place)
        after = children.get(place, [])
        for child in after:
            depths[child] = depths[place] + 1
        if not after:
            rows[place] = float(leaf)
            leaf += 1
        pending.extend(reversed(after))
    for place in reversed(order):
        if after := children.get(place, []):
            rows[place] = sum(rows[child] for child in after) / len(after)
    return rows, depths


def _columns(depths: Sequence[int], widths: Sequence[float]) -> list[float]:
    columns = [0.0]
    for depth in range(max(depths)):
        widest = max(wide for wide, one in zip(widths, depths, strict=True) if one == depth)
        columns.append(columns[-1] + widest + _GAP)
    return columns


def _lines(branches: Sequence[Branch], children: dict[int, list[int]]) -> list[str]:
    found: list[str] = []
    pending = [(place, "", "") for place in reversed(children.get(-1, []))]
    while pending:
        place, before, edge = pending.pop()
        branch = branches[place]
        found.append(f"{before}{edge}{_MARKS[branch.fate]}{visible(branch.word)} {branch.score:.2f}")
        after = children.get(place, [])
        deeper = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[edge]
        pending.extend((child, deeper, "└─ " if child == after[-1] else "├─ ") for child in reversed(after))
    return found
