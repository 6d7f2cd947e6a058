"""The inks of charts: one of each kind, on light and on dark paper.

A chart is drawn in groups that each have a colour, and its marks take the colour of their group. On its own it
is dark on light; in a page that holds `STYLE`, the page's paper decides.
"""

from clearhead.axes import AXES
from clearhead.figures.colour import INK, PAPER

__all__ = ["DARK", "LIGHT", "SERIES", "STYLE", "group"]

LIGHT = {"paper": PAPER, "ink": INK, "faint": "#5b5b6b", "grid": "#dcdce3"}
DARK = {"paper": "#17171f", "ink": "#ececf2", "faint": "#a9a9b8", "grid": "#3a3a47"}

# The legend's colours that are furthest apart for any colour vision; those that are pale on white come last.
SERIES = tuple(AXES[letter].colour for letter in "DTSHQKB")

_RULES = "".join(f".chart-{kind} {{ color: {colour}; }}\n" for kind, colour in DARK.items())
STYLE = f"@media screen and (prefers-color-scheme: dark) {{\n{_RULES}}}\n"
"""Rules for a page, so that its charts are light on dark where the reader prefers that; paper stays white."""


def group(kind: str, marks: list[str]) -> str:
    """Marks of one kind of ink."""
    return f'<g class="chart-{kind}" color="{LIGHT[kind]}">\n' + "\n".join(marks) + "\n</g>"
