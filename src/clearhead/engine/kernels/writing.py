# pyright: basic, reportPrivateImportUsage=false
"""One step of writing in one call: ids become vectors, go through all blocks, become logits, and are searched."""

from typing import no_type_check

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.by_itself import read_row
from clearhead.engine.kernels.multiply import multiply, round_rows
from clearhead.engine.kernels.rows import entry, floats, kernel, norm, share
from clearhead.engine.kernels.searching import search_some
from clearhead.engine.kernels.step import go_through, meet

_ROWS_NEAR = 32


@kernel
@no_type_check
def _embed(ids, plan, factors, shape, where, stride, place, size):
    """The vectors of some rows: the token's own, and that of the place, which is the same for all."""
    width = shape[at.WIDTH]
    first, end = share(shape[at.N_ROWS], place, size)
    for i in range(first, end):
        x = floats(where[at.PRE] + i * stride[at.PRE], width)
        if plan[at.TOKEN_SCALES]:
            read_row(ids[i], plan[at.TOKENS], plan[at.TOKEN_SCALES], x, factors[at.TOKEN_FACTOR])
        else:
            token = floats(plan[at.TOKENS] + 4 * width * ids[i], width)
            for j in range(width):
                x[j] = token[j] * factors[at.TOKEN_FACTOR]
        if plan[at.PLACE]:
            there = floats(plan[at.PLACE], width)
            for j in range(width):
                x[j] += there[j]


@kernel
@no_type_check
def _finish(plan, factors, shape, numbers, where, stride, head, place, size):
    """The last norm of some rows, in their place, and the rows as the output layer reads them."""
    first, end = share(shape[at.N_ROWS], place, size)
    for i in range(first, end):
        x = floats(where[at.POST] + i * stride[at.POST], shape[at.WIDTH])
        if plan[at.LAST_NORM]:
            norm(x, x, plan[at.LAST_NORM], plan[at.LAST_NORM_BIAS], shape[at.NORM_KIND], numbers[at.EPSILON])
        for j in range(len(x)):
            x[j] *= factors[at.HEAD_FACTOR]
    if shape[at.FORMAT] == at.INT8:
        rounded, apart, scales = shape[at.ROUNDED], shape[at.ROUNDED_STRIDE], shape[at.ROW_SCALES]
        round_rows(head, where[at.POST], stride[at.POST], rounded, apart, scales, first, end)


@kernel
@no_type_check
def _multiply(first, end, shape, where, stride, head, plan, place, size):
    """The logits of some rows."""
    multiply(
        shape[at.FORMAT],
        head,
        where[at.POST] + first * stride[at.POST],
        stride[at.POST],
        shape[at.ROUNDED] + first * shape[at.ROUNDED_STRIDE],
        shape[at.ROUNDED_STRIDE],
        shape[at.ROW_SCALES] + 4 * first,
        end - first,
        plan[at.LOGITS] + first * plan[at.LOGITS_ROW],
        plan[at.LOGITS_ROW],
        place,
        size,
    )


@entry(
    "void(int64, int64, int64, int64[::1], float32[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], "
    "int64[::1], float32[::1], int64[::1], int64[::1], float64, int64[:, ::1], float64[::1], int64[::1], float32[::1], "
    "float64[:, ::1], int64[:, :, ::1], int64[:, :, ::1], float64[:, :, ::1])"
)
@no_type_check
def write_on(
    place, size, barrier, shape, numbers, blocks, buffers, stride, ids, writing, factors, head,
    plan, divisor, searches, hopes, end_ids, totals, finished, running, ended, scores,
):  # fmt: skip
    """One more id for every row, and what all searches make of the logits after it.

    One thread alone searches among the logits of some rows while they are still near the processor.
    """
    _embed(ids, writing, factors, shape, buffers[0], stride, place, size)
    turn_number = go_through(place, size, barrier, shape, numbers, blocks, buffers, stride)
    last = buffers[len(buffers) - 1]
    _finish(writing, factors, shape, numbers, last, stride, head, place, size)
    turn_number = meet(barrier, size, turn_number)
    n = len(searches)
    if size > 1:
        _multiply(0, shape[at.N_ROWS], shape, last, stride, head, plan, place, size)
        turn_number = meet(barrier, size, turn_number)
    first, end = share(n, place, size)
    while first < end:
        until = end
        if size == 1:
            until, row = first, searches[first, at.FIRST_ROW]
            row_end = row
            while until < end and (until == first or row_end + searches[until, at.N_BEAMS] - row <= _ROWS_NEAR):
                row_end += searches[until, at.N_BEAMS]
                until += 1
            _multiply(row, row_end, shape, last, stride, head, plan, 0, 1)
        search_some(first, until, plan, divisor, searches, hopes, end_ids, totals, finished, running, ended, scores)
        first = until
    meet(barrier, size, turn_number)
