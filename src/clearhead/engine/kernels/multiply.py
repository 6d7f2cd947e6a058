# pyright: basic
"""Rows times a matrix, whatever the format of its weights.

Every thread of `size` computes a share of the outputs, so that each weight is read once, by one of them.
"""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels.fields import (
    BIAS,
    INT8,
    LARGEST,
    N_INPUTS,
    N_OUTPUTS,
    OUTPUTS,
    PANEL,
    PANELS,
    SCALE,
    WEIGHT,
)
from clearhead.engine.kernels.instructions import LANES
from clearhead.engine.kernels.machine import make_float_tile, make_int8_tile, make_panel_tile
from clearhead.engine.kernels.rows import floats, kernel, round_row, share, shorts

_ROWS_AT_ONCE = 32
"""So many rows stay near the processor while all weights pass."""
_TURN = 128
"""Bytes of weights that a tile reads in one turn."""
_AHEAD = 1024
"""How far ahead of its reading a single pass asks for weights, in bytes."""

_NEAR = 2**18
"""Bytes of rows that stay near the processor while panels pass: half of what a core has at hand."""

_PART = 2 * LANES
"""Outputs of a block that six rows meet in one pass: two registers of sums for each row."""
_PASSES = OUTPUTS // _PART
_SIDE, _TALL = 2 * LANES // PANEL, 12 if LANES == 16 else 6
"""Panels, and rows, that meet in one tile; wide registers are twice as many, too."""

_int8_1, _int8_2, _int8_6 = make_int8_tile(1), make_int8_tile(2), make_int8_tile(6, _PART)
_float_11, _float_41, _float_42 = make_float_tile(1, 1), make_float_tile(4, 1), make_float_tile(4, 2)


@kernel
@no_type_check
def _int8(weight, scale, bias, n_pairs, first, end, row, row_stride, row_scale, m, m_end, out, out_stride):
    """Some rows times some blocks of outputs.

    One pass asks for weights a little ahead of its own reading; several share out the block that comes next.
    """
    size = 2 * OUTPUTS * n_pairs
    n_sixes = (m_end - m) // 6
    passes = _PASSES * n_sixes + (m_end - m - 6 * n_sixes + 1) // 2
    step = _TURN // passes
    for block in range(first, end):
        w, lane = weight + block * size, 4 * OUTPUTS * block
        s, b, y = scale + lane, bias + lane, out + lane
        ahead = w + (_AHEAD if passes == 1 else size)
        i = m
        while i + 6 <= m_end:
            x, r = row + i * row_stride, row_scale + 4 * i
            for part in range(_PASSES):
                o = 4 * _PART * part
                z = y + i * out_stride + o
                _int8_6(w + 2 * _PART * part, n_pairs, x, row_stride, r, s + o, b + o, z, out_stride, ahead, step)
                ahead += n_pairs // 2 * step
            i += 6
        while i + 2 <= m_end:
            x = row + i * row_stride
            _int8_2(w, n_pairs, x, row_stride, row_scale + 4 * i, s, b, y + i * out_stride, out_stride, ahead, step)
            ahead += n_pairs // 2 * step
            i += 2
        if i < m_end:
            x = row + i * row_stride
            _int8_1(w, n_pairs, x, row_stride, row_scale + 4 * i, s, b, y + i * out_stride, out_stride, ahead, step)


@kernel
@no_type_check
def _float(weight, n_inputs, first, end, row, row_stride, m, m_end, out, out_stride):
    """Some rows times some outputs, over whole registers of inputs."""
    width, n = 4 * n_inputs, n_inputs // LANES
    whole = first + (end - first) // 4 * 4
    for output in range(first, whole, 4):
        w, y = weight + output * width, out + 4 * output
        for i in range(m, m_end - 1, 2):
            _float_42(w, width, n, row + i * row_stride, row_stride, y + i * out_stride, out_stride)
        if (m_end - m) % 2:
            i = m_end - 1
            _float_41(w, width, n, row + i * row_stride, row_stride, y + i * out_stride, out_stride)
    for output in range(whole, end):
        for i in range(m, m_end):
            w, y = weight + output * width, out + 4 * output
            _float_11(w, width, n, row + i * row_stride, row_stride, y + i * out_stride, out_stride)


@no_type_check
def _make_strip(n_panels):
    """Some rows times so many panels of outputs, side by side."""
    tall, six, three, two, one = (make_panel_tile(n, n_panels) for n in (_TALL, 6, 3, 2, 1))

    @kernel
    @no_type_check
    def strip(w, n_inputs, row, row_stride, bias, y, out_stride, i, m_end):
        while i + _TALL <= m_end:
            tall(w, n_inputs, row + i * row_stride, row_stride, bias, y + i * out_stride, out_stride)
            i += _TALL
        if i + 6 <= m_end:
            six(w, n_inputs, row + i * row_stride, row_stride, bias, y + i * out_stride, out_stride)
            i += 6
        if i + 3 <= m_end:
            three(w, n_inputs, row + i * row_stride, row_stride, bias, y + i * out_stride, out_stride)
            i += 3
        if i + 2 <= m_end:
            two(w, n_inputs, row + i * row_stride, row_stride, bias, y + i * out_stride, out_stride)
            i += 2
        if i < m_end:
            one(w, n_inputs, row + i * row_stride, row_stride, bias, y + i * out_stride, out_stride)

    return strip


_strip_1, _strip_n = _make_strip(1), _make_strip(_SIDE)


@kernel
@no_type_check
def panels(weight, bias, n_inputs, first, end, row, row_stride, n_rows, out, out_stride):
    """All rows times some panels of outputs, a block of rows after another."""
    at_once = max(_TALL, _NEAR // (4 * n_inputs) // _TALL * _TALL)
    for m in range(0, n_rows, at_once):
        m_end, panel = min(m + at_once, n_rows), first
        while panel < end:
            w, lane = weight + 4 * PANEL * n_inputs * panel, 4 * PANEL * panel
            if panel + _SIDE <= end:
                _strip_n(w, n_inputs, row, row_stride, bias + lane, out + lane, out_stride, m, m_end)
                panel += _SIDE
            else:
                _strip_1(w, n_inputs, row, row_stride, bias + lane, out + lane, out_stride, m, m_end)
                panel += 1


@kernel
@no_type_check
def _finish(weight, bias, n_inputs, first, end, row, row_stride, m, m_end, out, out_stride):
    """Adds what whole registers left over, and the bias."""
    whole = n_inputs // LANES * LANES
    for i in range(m, m_end):
        y = floats(out + i * out_stride, end)
        if whole == 0:
            y[first:end] = float32(0.0)
        if whole < n_inputs:
            x = floats(row + i * row_stride, n_inputs)
            for j in range(first, end):
                w = floats(weight + 4 * j * n_inputs, n_inputs)
                for k in range(whole, n_inputs):
                    y[j] += w[k] * x[k]
        if bias:
            b = floats(bias, end)
            for j in range(first, end):
                y[j] += b[j]


@kernel
@no_type_check
def multiply(kind, product, row, row_stride, rounded, rounded_stride, row_scale, n_rows, out, out_stride, place, size):
    """Rows times a matrix plus its bias: this thread's share of the outputs of all rows.

    `product` is the six numbers that describe it; `row` are the rows as floats, `rounded` as whole numbers.
    """
    n_outputs, n_inputs = product[N_OUTPUTS], product[N_INPUTS]
    if kind == PANELS:
        first, end = share((n_outputs + PANEL - 1) // PANEL, place, size)
        panels(product[WEIGHT], product[BIAS], n_inputs, first, end, row, row_stride, n_rows, out, out_stride)
        return
    if kind == INT8:
        first, end = share((n_outputs + OUTPUTS - 1) // OUTPUTS, place, size)
    else:
        first, end = share(n_outputs, place, size)
    for m in range(0, n_rows, _ROWS_AT_ONCE):
        m_end = min(m + _ROWS_AT_ONCE, n_rows)
        if kind == INT8:
            weight, scale, bias, n_pairs = product[WEIGHT], product[SCALE], product[BIAS], (n_inputs + 3) // 4 * 2
            _int8(
                weight, scale, bias, n_pairs, first, end, rounded, rounded_stride, row_scale, m, m_end, out, out_stride
            )
        else:
            weight, bias = product[WEIGHT], product[BIAS]
            if n_inputs >= LANES:
                _float(weight, n_inputs, first, end, row, row_stride, m, m_end, out, out_stride)
            _finish(weight, bias, n_inputs, first, end, row, row_stride, m, m_end, out, out_stride)


@kernel
@no_type_check
def round_rows(product, row, row_stride, rounded, rounded_stride, row_scale, first, end):
    """Some rows as whole numbers, as small as the sums of a product ask for."""
    n = product[N_INPUTS]
    scales = floats(row_scale, end)
    for i in range(first, end):
        out = shorts(rounded + i * rounded_stride, n + 3)
        out[n : (n + 3) // 4 * 4] = 0
        scales[i] = round_row(floats(row + i * row_stride, n), out[:n], float32(product[LARGEST]))
