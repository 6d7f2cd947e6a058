# pyright: basic
"""The three products of a layer that learns: forwards, to its rows, and to its weights.

    y = x W^T + b        dx = dy W        dW += dy^T x

Weights change from step to step, so that each product lays out what it reads again and again, panel by panel, just
before: that costs a fiftieth of it. One thread does all of it, and others have rows of their own.
"""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels.columns import turn_over
from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.panels import add_panels, panels
from clearhead.engine.kernels.rows import entry, floats, kernel

_BLOCK = 256
"""Rows whose part of a gradient is added at a time: they stay near the processor meanwhile."""


@kernel
@no_type_check
def _lay_columns(source, stride, n_rows, n_panels, room):
    """Lays rows out as [panel, row, number]."""
    for panel in range(n_panels):
        for i in range(n_rows):
            line = floats(room + 4 * PANEL * (n_rows * panel + i), PANEL)
            line[:] = floats(source + i * stride + 4 * PANEL * panel, PANEL)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def forwards(x, x_stride, n_rows, weight, weight_stride, n_inputs, n_outputs, bias, room, out, out_stride):
    """Every row times the weights, and the bias."""
    for panel in range(n_outputs // PANEL):
        some = weight + PANEL * panel * weight_stride
        turn_over(some, weight_stride, PANEL, n_inputs, float32(1.0), room + 4 * PANEL * n_inputs * panel)
    panels(room, bias, n_inputs, 0, n_outputs // PANEL, x, x_stride, n_rows, out, out_stride)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def to_rows(to_y, y_stride, n_rows, weight, weight_stride, n_inputs, n_outputs, zeros, room, out, out_stride):
    """The gradient of every row."""
    _lay_columns(weight, weight_stride, n_outputs, n_inputs // PANEL, room)
    panels(room, zeros, n_outputs, 0, n_inputs // PANEL, to_y, y_stride, n_rows, out, out_stride)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def to_weights(to_y, y_stride, n_rows, x, x_stride, n_inputs, n_outputs, room, out, out_stride):
    """Adds the gradient of the weights."""
    for first in range(0, n_rows, _BLOCK):
        n = min(_BLOCK, n_rows - first)
        _lay_columns(x + first * x_stride, x_stride, n, n_inputs // PANEL, room)
        add_panels(room, n, n_inputs // PANEL, to_y + first * y_stride, y_stride, n_outputs, out, out_stride)
