"""Pictures of labelled arrays, drawn the same in the browser, on paper and in the terminal.

Takes: numbers and the labels of their rows and columns, or named lines of points.
Gives: a Figure: SVG, PNG, a self-contained HTML page, or lines for a terminal.
Uses:  axes, errors; numpy, and resvg where a PNG is asked for.
Never: torch, traces or models; whoever has a tensor gives its numbers.
"""

from clearhead.figures.colour import shade
from clearhead.figures.curves import curves
from clearhead.figures.figure import Figure
from clearhead.figures.heatmap import heatmap
from clearhead.figures.panels import Panels
from clearhead.figures.series import Curves

__all__ = ["Curves", "Figure", "Panels", "curves", "heatmap", "shade"]
