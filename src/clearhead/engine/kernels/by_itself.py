# pyright: basic, reportPrivateImportUsage=false
"""What is asked for outside a step: one product by itself, and rows of a table."""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.multiply import multiply, round_rows
from clearhead.engine.kernels.rows import bytes_at, entry, floats, share
from clearhead.engine.kernels.step import meet


@entry("void(int64[::1], int64, int64, float32[:, ::1], float32)")
@no_type_check
def look_up(ids, weight, scale, out, factor):
    """The rows of whole numbers of these ids, as floats."""
    n_inputs = out.shape[1]
    n_pairs = (n_inputs + 3) // 4 * 2
    for i in range(len(ids)):
        lane = ids[i] % at.OUTPUTS
        block = bytes_at(weight + 2 * at.OUTPUTS * n_pairs * (ids[i] // at.OUTPUTS), 2 * at.OUTPUTS * n_pairs)
        of_row = floats(scale, ids[i] + 1)[ids[i]] * factor
        for j in range(n_inputs):
            out[i, j] = float32(block[2 * at.OUTPUTS * (j // 2) + 2 * lane + j % 2]) * of_row


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
