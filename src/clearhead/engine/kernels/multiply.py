# pyright: basic
"""Rows times a matrix, whatever the format of its weights.

Every thread of `size` computes a share of the outputs, so that each weight is read once, by one of them.
"""

from typing import no_type_check

import numpy as np
from numba import float32

from clearhead.engine.kernels.depth import PAIRS, depth
from clearhead.engine.kernels.fields import (
    BIAS,
    EVEN,
    FEW,
    INT8,
    LARGEST,
    N_INPUTS,
    N_OUTPUTS,
    NEVER,
    OUTPUTS,
    PANEL,
    PANELS,
    SCALE,
    SHIFT,
    WEIGHT,
)
from clearhead.engine.kernels.instructions import LANES
from clearhead.engine.kernels.int8_tiles import make_int8_tile
from clearhead.engine.kernels.machine import make_float_tile, of_bits
from clearhead.engine.kernels.panels import panels
from clearhead.engine.kernels.rows import (
    INFINITE,
    flags,
    floats,
    is_even,
    kernel,
    largest_size,
    nearest,
    share,
    shorts,
)

_ROWS_AT_ONCE = 32
"""So many rows stay near the processor while all weights pass."""
_AHEAD = 1024
"""How far ahead of its reading a single pass asks for weights, in bytes."""

_PART = 2 * LANES
"""Outputs of a block that six rows meet in one pass: two registers of sums for each row."""
_PASSES = OUTPUTS // _PART
DEPTH = depth()

_few_1, _few_2, _few_6 = make_int8_tile(1), make_int8_tile(2), make_int8_tile(6, _PART)
_many_1, _many_3 = make_int8_tile(1, n_parts=DEPTH // 2), make_int8_tile(3, _PART, n_parts=DEPTH // 2)
_float_11, _float_41, _float_42 = make_float_tile(1, 1), make_float_tile(4, 1), make_float_tile(4, 2)


@kernel
@no_type_check
def n_groups(n_inputs):
    """Groups of inputs that lie side by side; they are even."""
    return (n_inputs + 2 * DEPTH - 1) // (2 * DEPTH) * 2


@kernel
@no_type_check
def _sort_rows(row_scale, m, m_end, numbers):
    """The numbers of rows of one byte, then of those of two; gives how many of the first there are."""
    scales = floats(row_scale, m_end)
    n_few, place = 0, m_end - m
    for i in range(m, m_end):
        if scales[i] < float32(0.0):
            place -= 1
            numbers[place] = i
        else:
            numbers[n_few] = i
            n_few += 1
    return n_few


@kernel
@no_type_check
def _int8(product, first, end, row, stride, row_scale, numbers, n_few, n_rows, out, out_stride):
    """Some rows times some blocks of outputs.

    One pass asks for weights a little ahead of its own reading; several share out the block that comes next.
    """
    turns, which, apart = n_groups(product[N_INPUTS]) // 2, numbers.ctypes.data, stride // 2
    turn, n_many = 2 * OUTPUTS * DEPTH, n_rows - n_few
    passes = _PASSES * (n_few // 6 + n_many // 3) + (n_few % 6 + 1) // 2 + n_many % 3
    step = turn // passes
    for block in range(first, end):
        w, lane = product[WEIGHT] + block * turns * turn, 4 * OUTPUTS * block
        s, b, z, y = product[SCALE] + lane, product[BIAS] + lane, product[SHIFT] + lane, out + lane
        ahead, i = w + (_AHEAD if passes == 1 else turns * turn), 0
        while i < n_rows:
            x, ask = which + 8 * i, (ahead, step)
            if i + 6 <= n_few or (i >= n_few and i + 3 <= n_rows):
                for part in range(_PASSES):
                    o, v, ask = 4 * _PART * part, w + DEPTH * _PART * part, (ahead, step)
                    if i < n_few:
                        _few_6(v, turns, x, row, stride, apart, row_scale, s + o, b + o, z + o, y + o, out_stride, ask)
                    else:
                        _many_3(v, turns, x, row, stride, apart, row_scale, s + o, b + o, z + o, y + o, out_stride, ask)
                    ahead += turns * step
                i += 6 if i < n_few else 3
                continue
            if i + 2 <= n_few:
                _few_2(w, turns, x, row, stride, apart, row_scale, s, b, z, y, out_stride, ask)
                i += 2
            elif i < n_few:
                _few_1(w, turns, x, row, stride, apart, row_scale, s, b, z, y, out_stride, ask)
                i += 1
            else:
                _many_1(w, turns, x, row, stride, apart, row_scale, s, b, z, y, out_stride, ask)
                i += 1
            ahead += turns * step


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

    `product` is the numbers that describe it; `row` are the rows as floats, `rounded` as whole numbers.
    """
    n_outputs, n_inputs = product[N_OUTPUTS], product[N_INPUTS]
    if kind == PANELS:
        first, end = share((n_outputs + PANEL - 1) // PANEL, place, size)
        panels(product[WEIGHT], product[BIAS], n_inputs, first, end, row, row_stride, n_rows, out, out_stride)
        return
    if kind == INT8:
        first, end = share((n_outputs + OUTPUTS - 1) // OUTPUTS, place, size)
        numbers = np.empty(_ROWS_AT_ONCE, dtype=np.int64)
        for m in range(0, n_rows, _ROWS_AT_ONCE):
            m_end = min(m + _ROWS_AT_ONCE, n_rows)
            n_few = _sort_rows(row_scale, m, m_end, numbers)
            _int8(product, first, end, rounded, rounded_stride, row_scale, numbers, n_few, m_end - m, out, out_stride)
        return
    first, end = share(n_outputs, place, size)
    weight, bias = product[WEIGHT], product[BIAS]
    for m in range(0, n_rows, _ROWS_AT_ONCE):
        m_end = min(m + _ROWS_AT_ONCE, n_rows)
        if n_inputs >= LANES:
            _float(weight, n_inputs, first, end, row, row_stride, m, m_end, out, out_stride)
        _finish(weight, bias, n_inputs, first, end, row, row_stride, m, m_end, out, out_stride)


@kernel
@no_type_check
def _round_row(x, out, apart, largest, even):
    """A row as whole numbers, at an address; gives the scale that makes them floats again.

    One byte a number where their mean size is `even` or more, and about two where not, as `largest` says. Where bytes
    are added up by fours they have no sign, and second bytes lie apart; the scale of such a row is negative, so that it
    is known.
    """
    n, size = len(x), largest_size(x)
    sound = 0 < size < INFINITE
    most = of_bits(size) if sound else float32(1.0)
    even = not sound or (even < NEVER and is_even(x, float32(FEW) / most, even))
    least = float32(FEW) if even else largest
    factor = least / most if sound else float32(0.0)
    if DEPTH == PAIRS:
        numbers = shorts(out, (n + 3) // 4 * 4)  # and not beyond: another thread's row may lie there
        numbers[n:] = 0
        for i in range(n):
            numbers[i] = nearest(x[i], factor) if sound else 0
    elif even:
        few = flags(out, n)
        for i in range(n):
            few[i] = (nearest(x[i], factor) if sound else 0) + 128
    else:
        high, low = flags(out, n), flags(out + apart, n)
        for i in range(n):
            whole = nearest(x[i], factor)
            first = (whole + 128) >> 8
            high[i], low[i] = first + 128, whole - (first << 8) + 128
    if not sound:
        return float32(np.nan) if size else float32(0.0)
    return most / least if even or DEPTH == PAIRS else -(most / least)


@kernel
@no_type_check
def round_rows(product, row, row_stride, rounded, rounded_stride, row_scale, first, end):
    """Some rows as whole numbers, as small as the sums of a product ask for."""
    n, scales = product[N_INPUTS], floats(row_scale, end)
    for i in range(first, end):
        x, out = floats(row + i * row_stride, n), rounded + i * rounded_stride
        scales[i] = _round_row(x, out, rounded_stride // 2, float32(product[LARGEST]), product[EVEN])
