# pyright: basic, reportPrivateImportUsage=false
"""What is asked for outside a step: one product by itself, and rows of a table."""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.multiply import DEPTH, multiply, n_groups, round_rows
from clearhead.engine.kernels.rows import bytes_at, entry, floats, kernel, share
from clearhead.engine.kernels.step import meet


@kernel
@no_type_check
def read_row(index, weight, scale, out, factor):
    """One row of whole numbers, as floats."""
    size = at.OUTPUTS * DEPTH * n_groups(len(out))
    block = bytes_at(weight + size * (index // at.OUTPUTS), size)
    of_row = floats(scale, index + 1)[index] * factor
    for j in range(len(out)):
        out[j] = float32(block[DEPTH * (at.OUTPUTS * (j // DEPTH) + index % at.OUTPUTS) + j % DEPTH]) * of_row


@entry("void(int64[::1], int64, int64, float32[:, ::1], float32)")
@no_type_check
def look_up(ids, weight, scale, out, factor):
    """The rows of whole numbers of these ids, as floats."""
    for i in range(len(ids)):
        read_row(ids[i], weight, scale, out[i], factor)


@entry("void(int64, int64, int64, int64, int64[::1], int64, int64, int64, int64, int64, int64[::1])")
@no_type_check
def multiply_rows(place, size, barrier, kind, product, row, rounded, scales, n_rows, out, strides):
    """One product by itself: rows are rounded, then multiplied. Strides are those of row, rounded and out."""
    if kind == at.INT8:
        first, end = share(n_rows, place, size)
        round_rows(product, row, strides[0], rounded, strides[1], scales, first, end)
    turn_number = meet(barrier, size, 1)
    multiply(kind, product, row, strides[0], rounded, strides[1], scales, n_rows, out, strides[2], place, size)
    meet(barrier, size, turn_number)
