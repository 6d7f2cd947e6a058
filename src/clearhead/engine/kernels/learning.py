# pyright: basic
"""The three products of a layer that learns: forwards, to its rows, and to its weights.

    y = x W^T + b        dx = dy W        dW += dy^T x

Weights change from step to step, so that each product lays out what it reads again and again, panel by panel, just
before: that costs a fiftieth of it. One thread does all of it, and others have rows of their own.
"""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels.columns import turn_over
from clearhead.engine.kernels.fields import BLOCK, PANEL, ROOM, STRIP
from clearhead.engine.kernels.instructions import LANES
from clearhead.engine.kernels.panels import SIDE, add_panels, panels
from clearhead.engine.kernels.rows import entry, floats, kernel

_ONE_PLACE = 4096
"""Bytes apart, lines share one place of the nearest cache; small tiles ask for each of them too often for that."""


@kernel
@no_type_check
def _lay_columns(source, stride, n_rows, n_panels, room):
    """Lays rows out as [panel, row, number]."""
    for panel in range(n_panels):
        for i in range(n_rows):
            line = floats(room + 4 * PANEL * (n_rows * panel + i), PANEL)
            line[:] = floats(source + i * stride + 4 * PANEL * panel, PANEL)


@kernel
@no_type_check
def _at_once(n_inputs):
    """Panels that are laid out before they are multiplied."""
    return max(SIDE, ROOM // (PANEL * n_inputs) // SIDE * SIDE)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def forwards(x, x_stride, n_rows, weight, weight_stride, n_inputs, n_outputs, bias, room, out, out_stride):
    """Every row times the weights, and the bias."""
    n_panels, at_once = n_outputs // PANEL, _at_once(n_inputs)
    for first in range(0, n_panels, at_once):
        n, lane = min(at_once, n_panels - first), 4 * PANEL * first
        for panel in range(n):
            some = weight + PANEL * (first + panel) * weight_stride
            turn_over(some, weight_stride, PANEL, n_inputs, float32(1.0), room + 4 * PANEL * n_inputs * panel)
        panels(room, bias + lane, n_inputs, 0, n, x, x_stride, n_rows, out + lane, out_stride)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def to_rows(to_y, y_stride, n_rows, weight, weight_stride, n_inputs, n_outputs, zeros, room, out, out_stride):
    """The gradient of every row."""
    n_panels, at_once = n_inputs // PANEL, _at_once(n_outputs)
    for first in range(0, n_panels, at_once):
        n, lane = min(at_once, n_panels - first), 4 * PANEL * first
        _lay_columns(weight + lane, weight_stride, n_outputs, n, room)
        panels(room, zeros, n_outputs, 0, n, to_y, y_stride, n_rows, out + lane, out_stride)


@kernel
@no_type_check
def _copy_strip(source, stride, n_rows, n, strip):
    """Copies some columns to where they lie side by side."""
    for i in range(n_rows):
        line = floats(strip + 4 * STRIP * i, n)
        line[:] = floats(source + i * stride, n)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def to_weights(to_y, y_stride, n_rows, x, x_stride, n_inputs, n_outputs, room, out, out_stride):
    """Adds the gradient of the weights."""
    n_panels, strip = n_inputs // PANEL, room + 4 * BLOCK * n_inputs
    for first in range(0, n_rows, BLOCK):
        n, begin = min(BLOCK, n_rows - first), to_y + first * y_stride
        _lay_columns(x + first * x_stride, x_stride, n, n_panels, room)
        if LANES > PANEL // 2 or y_stride % _ONE_PLACE or y_stride == 0:
            add_panels(room, n, n_panels, begin, y_stride, n_outputs, out, out_stride)
            continue
        for column in range(0, n_outputs, STRIP):
            some = min(STRIP, n_outputs - column)
            _copy_strip(begin + 4 * column, y_stride, n, some, strip)
            add_panels(room, n, n_panels, strip, 4 * STRIP, some, out + column * out_stride, out_stride)
