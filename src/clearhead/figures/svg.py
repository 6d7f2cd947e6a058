"""SVG, written as text: a few marks, every label escaped."""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from clearhead.figures.colour import INK
from clearhead.figures.words import visible, width

__all__ = ["FONTS", "document", "label", "number", "rectangle"]

# The first that is installed; Hindi comes from whichever has its letters.
FONTS = "Noto Sans, DejaVu Sans, Helvetica, Arial, Noto Sans Devanagari, sans-serif"
_HINDI = re.compile("([\u0900-\u097f\u200c\u200d]+(?:[ .,!?-]+[\u0900-\u097f\u200c\u200d]+)*)")


def number(value: float) -> str:
    """A coordinate without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def rectangle(
    x: float, y: float, wide: float, high: float, *, fill: str, kind: str = "", tip: str = "", radius: float = 0.0
) -> str:
    """A filled box; its tip shows when the pointer rests on it."""
    attributes = f'x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(high)}" fill="{fill}"'
    if kind:
        attributes += f' class="{kind}"'
    if radius:
        attributes += f' rx="{number(radius)}"'
    return f"<rect {attributes}>{_title(tip)}</rect>" if tip else f"<rect {attributes}/>"


def label(
    text: str,
    x: float,
    y: float,
    *,
    size: float = 12.0,
    anchor: str = "start",
    turn: float = 0.0,
    fill: str = INK,
    tip: str = "",
) -> str:
    """A line of text, perhaps turned about its anchor."""
    attributes = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{fill}"'
    runs = [run for run in _HINDI.split(visible(text)) if run]
    content = escape(visible(text)) if len(runs) < 2 else _placed(runs, x, size=size, anchor=anchor)
    if anchor != "start" and len(runs) < 2:
        attributes += f' text-anchor="{anchor}"'
    if turn:
        attributes += f' transform="rotate({number(turn)} {number(x)} {number(y)})"'
    return f"<text {attributes}>{_title(tip)}{content}</text>"


def document(marks: Iterable[str], *, wide: float, high: float, title: str, background: str) -> str:
    """A whole picture with its title for those who hear it instead."""
    size = f"{number(wide)} {number(high)}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{number(wide)}" '
        f'height="{number(high)}" font-family={quoteattr(FONTS)} role="img" aria-label={quoteattr(visible(title))}>'
    )
    body = [f"<title>{escape(visible(title))}</title>", rectangle(0.0, 0.0, wide, high, fill=background), *marks]
    return "\n".join([head, *body, "</svg>"]) + "\n"


def _title(tip: str) -> str:
    return f"<title>{escape(visible(tip))}</title>" if tip else ""


def _placed(runs: list[str], x: float, *, size: float, anchor: str) -> str:
    """Runs of different scripts, each with a place of its own.

    The renderer shapes what has one place by the script that it begins with: Hindi after English would
    fall apart into single letters.
    """
    widths = [width(run, size=size) for run in runs]
    place = x - sum(widths) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    spans: list[str] = []
    for run, wide in zip(runs, widths, strict=True):
        spans.append(f'<tspan x="{number(place)}">{escape(run)}</tspan>')
        place += wide
    return "".join(spans)
