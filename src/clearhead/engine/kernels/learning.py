# pyright: basic
"""The three products of a layer that learns: forwards, to its rows, and to its weights.

    y = x W^T + b        dx = dy W        dW += dy^T x

Weights change from step to step, so that each product lays out what it reads again and again, panel by panel, just
before: that costs a hundredth of it. A number is made in the same order whoever makes it, so that it does not depend on
how many threads there are.
"""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels.columns import turn_over
from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.panels import SIDE, add_panels, panels
from clearhead.engine.kernels.rows import entry, floats, kernel, share
from clearhead.engine.kernels.step import meet

_BLOCK = 256
"""Rows whose part of a gradient is added at a time: they stay near the processor meanwhile."""


@kernel
@no_type_check
def _share(n, place, size):
    """The panels of so many numbers that are a thread's; those that a tile takes together stay so."""
    n_panels = n // PANEL
    first, end = share((n_panels + SIDE - 1) // SIDE, place, size)
    return first * SIDE, min(end * SIDE, n_panels)


@kernel
@no_type_check
def _lay_columns(source, stride, n, first, end, room):
    """Lays some panels of n rows out as [panel, row, number]."""
    for panel in range(first, end):
        for i in range(n):
            line = floats(room + 4 * PANEL * (n * panel + i), PANEL)
            line[:] = floats(source + i * stride + 4 * PANEL * panel, PANEL)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def forwards(
    place, size, barrier, x, x_stride, n_rows, weight, weight_stride, n_inputs, n_outputs, bias, room, out, out_stride
):  # fmt: skip
    """Every row times the weights, and the bias."""
    first, end = _share(n_outputs, place, size)
    for panel in range(first, end):
        rows = weight + PANEL * panel * weight_stride
        turn_over(rows, weight_stride, PANEL, n_inputs, float32(1.0), room + 4 * PANEL * n_inputs * panel)
    panels(room, bias, n_inputs, first, end, x, x_stride, n_rows, out, out_stride)
    meet(barrier, size, 1)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def to_rows(
    place, size, barrier, to_y, y_stride, n_rows, weight, weight_stride, n_inputs, n_outputs, zeros, room, out,
    out_stride,
):  # fmt: skip
    """The gradient of every row."""
    first, end = _share(n_inputs, place, size)
    _lay_columns(weight, weight_stride, n_outputs, first, end, room)
    panels(room, zeros, n_outputs, first, end, to_y, y_stride, n_rows, out, out_stride)
    meet(barrier, size, 1)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def to_weights(
    place, size, barrier, to_y, y_stride, n_rows, x, x_stride, n_inputs, n_outputs, room, out, out_stride
):  # fmt: skip
    """Adds the gradient of the weights."""
    first, end = _share(n_inputs, place, size)
    for begin in range(0, n_rows, _BLOCK):
        n = min(_BLOCK, n_rows - begin)
        _lay_columns(x + begin * x_stride, x_stride, n, first, end, room)
        add_panels(room, n, first, end, to_y + begin * y_stride, y_stride, n_outputs, out, out_stride)
    meet(barrier, size, 1)
