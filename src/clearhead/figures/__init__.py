"""Pictures of labelled arrays, drawn the same in the browser, on paper and in the terminal.

Takes: numbers and the labels of their rows and columns, named lines of points, trees of words.
Gives: a Figure: SVG, PNG, a self-contained HTML page, or lines for a terminal.
Uses:  axes, errors; numpy, and resvg where a PNG is asked for.
Never: torch, traces or models; whoever has a tensor gives its numbers.
"""

from clearhead.figures.alignment import alignment
from clearhead.figures.bars import bars
from clearhead.figures.colour import shade
from clearhead.figures.curves import curves
from clearhead.figures.figure import Figure
from clearhead.figures.heatmap import heatmap
from clearhead.figures.panels import Panels
from clearhead.figures.scatter import scatter
from clearhead.figures.series import Curves
from clearhead.figures.tree import Branch, tree
from clearhead.figures.word_table import word_table

__all__ = [
    "Branch",
    "Curves",
    "Figure",
    "Panels",
    "alignment",
    "bars",
    "curves",
    "heatmap",
    "scatter",
    "shade",
    "tree",
    "word_table",
]
