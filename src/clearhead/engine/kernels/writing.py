# pyright: basic, reportPrivateImportUsage=false
"""Steps of writing in one call: ids become vectors, go through all blocks, become logits, are searched.

Between steps, searches that have ended leave and beams change places. Nothing is moved for that but what says where
things lie; `BeamSearch` and the caches do the same, and tests compare what all find.
"""

from typing import no_type_check

from numba import float32

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.by_itself import read_row
from clearhead.engine.kernels.multiply import multiply, round_rows
from clearhead.engine.kernels.norms import norm
from clearhead.engine.kernels.rows import entry, flags, floats, kernel, share, wholes
from clearhead.engine.kernels.searching import search_some
from clearhead.engine.kernels.step import go_through, meet

_ROWS_NEAR = 20
"""Rows whose logits are searched while they are still near the processor."""


@kernel
@no_type_check
def _embed(ids, writing, factors, shape, where, stride, place, size):
    """The vectors of some rows: the token's own, and that of the place, which is the same for all."""
    width = shape[at.WIDTH]
    first, end = share(shape[at.N_ROWS], place, size)
    for i in range(first, end):
        x = floats(where[at.PRE] + i * stride[at.PRE], width)
        if writing[at.TOKEN_SCALES]:
            read_row(ids[i], writing[at.TOKENS], writing[at.TOKEN_SCALES], x, factors[at.TOKEN_FACTOR])
        else:
            token = floats(writing[at.TOKENS] + 4 * width * ids[i], width)
            for j in range(width):
                x[j] = token[j] * factors[at.TOKEN_FACTOR]
        if writing[at.PLACES]:
            there = floats(writing[at.PLACES] + 4 * width * shape[at.N_PAST], width)
            for j in range(width):
                x[j] += there[j]


@kernel
@no_type_check
def _keep(address, keeping, shape, buffers, stride, place, size):
    """Copies what heard stages of all blocks left of some rows; where the next step has its copies."""
    first, end = share(shape[at.N_ROWS], place, size)
    for i in range(len(keeping)):
        stage, n = keeping[i, 0], keeping[i, 1] + keeping[i, 2] * (shape[at.N_PAST] + 1)
        for layer in range(len(buffers)):
            for row in range(first, end):
                copy = floats(address + 4 * n * row, n)
                copy[:] = floats(buffers[layer, stage] + stride[stage] * row, n)
            address += 4 * n * shape[at.N_ROWS]
    return address


@kernel
@no_type_check
def _finish(writing, factors, shape, numbers, where, stride, head, place, size):
    """The last norm of some rows, in their place, and the rows as the output layer reads them."""
    first, end = share(shape[at.N_ROWS], place, size)
    for i in range(first, end):
        row = where[at.POST] + i * stride[at.POST]
        if writing[at.LAST_NORM]:
            weight, bias = writing[at.LAST_NORM], writing[at.LAST_NORM_BIAS]
            norm(row, row, shape[at.WIDTH], weight, bias, shape[at.NORM_KIND], numbers[at.EPSILON])
        x = floats(row, shape[at.WIDTH])
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


@kernel
@no_type_check
def _some_searches(searches, first, end):
    """So many searches from the first on that their rows are near, and at least one: where they end."""
    n_rows = 0
    for until in range(first, end):
        n_rows += searches[until, at.N_BEAMS]
        if n_rows > _ROWS_NEAR and until > first:
            return until
    return end


@kernel
@no_type_check
def _take_ended(state, which, search, n_ids, ended, scores, endings, ending_scores):
    """Takes note of the beams of a search that ended in this step."""
    for i in range(search[at.N_ENDED]):
        place = state[at.N_ENDINGS]
        endings[place, 0], endings[place, 1] = which, n_ids
        endings[place, 2], endings[place, 3] = ended[i, 0], ended[i, 1]
        ending_scores[place] = scores[1, i]
        state[at.N_ENDINGS] += 1


@kernel
@no_type_check
def _go_on(
    state, live, n_ids, searches, hopes, totals, finished, running, ended, scores, rows, ids, said, endings, of_ends
):
    """Keeps the searches that run, each in the place of one before it, and the rows and ids of their beams.

    `n_ids` is how many ids beams had before this step; `said` gets what the likeliest candidate of each search adds.
    """
    n_live, n_rows = 0, 0
    for i in range(state[at.N_LIVE]):
        search = searches[i]
        if search[at.STATE] == at.NOTHING_LEFT:
            state[at.N_LIVE], state[at.N_ROWS_LEFT] = -1, 0
            return
        said[live[i]] = scores[i, 2, 0]
        _take_ended(state, live[i], search, n_ids, ended[i], scores[i], endings, of_ends)
        if search[at.STATE] != at.RUNS:
            continue
        first = n_rows
        for j in range(search[at.N_RUNNING]):
            rows[n_rows], ids[n_rows] = running[i, j, 0], running[i, j, 1]
            totals[n_rows] = float32(scores[i, 0, j])
            n_rows += 1
        searches[n_live] = search
        searches[n_live, at.N_BEAMS], searches[n_live, at.FIRST_ROW] = n_rows - first, first
        live[n_live], hopes[n_live] = live[i], hopes[i]
        finished[n_live] = finished[i]
        n_live += 1
    state[at.N_LIVE], state[at.N_ROWS_LEFT] = n_live, n_rows


@kernel
@no_type_check
def _change_places(shape, writing, rows, n_rows):
    """Says where each position of the rows that go on lies, in the other of two tables; the next has its own place."""
    n_keys, n_source = shape[at.N_PAST] + 1, shape[at.SOURCE_LENGTH]
    own, across, mask = shape[at.LINES_ROW], shape[at.SOURCE_LINES_ROW], shape[at.SOURCE_MASK_ROW]
    for i in range(n_rows):
        old, new = shape[at.LINES] + rows[i] * own, wholes(writing[at.OTHER_LINES] + i * own, n_keys + 1)
        new[:n_keys] = wholes(old, n_keys)
        new[n_keys] = i
        old, new = shape[at.SOURCE_LINES] + rows[i] * across, writing[at.OTHER_SOURCE_LINES] + i * across
        wholes(new, n_source)[:] = wholes(old, n_source)
        if mask:
            old, new = shape[at.SOURCE_MASK] + rows[i] * mask, writing[at.OTHER_MASK] + i * mask
            flags(new, n_source)[:] = flags(old, n_source)
    shape[at.LINES], writing[at.OTHER_LINES] = writing[at.OTHER_LINES], shape[at.LINES]
    other = writing[at.OTHER_SOURCE_LINES]
    shape[at.SOURCE_LINES], writing[at.OTHER_SOURCE_LINES] = other, shape[at.SOURCE_LINES]
    shape[at.SOURCE_MASK], writing[at.OTHER_MASK] = writing[at.OTHER_MASK], shape[at.SOURCE_MASK]


@entry(
    "void(int64, int64, int64, int64[::1], float32[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], "
    "float32[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64[:, :, ::1], float64[:, ::1], "
    "int64[:, ::1], float64[::1], "
    "int64[::1], float64[::1], int64[:, ::1], float64[::1], int64[::1], int64[::1], float32[::1], float64[:, ::1], "
    "int64[:, :, ::1], int64[:, :, ::1], float64[:, :, ::1], float32[:, :, ::1], int64[:, :, :, ::1])"
)
@no_type_check
def write_on(
    place, size, barrier, shape, numbers, blocks, buffers, stride, writing, factors, head, keeping, state, live,
    counts, trail, said, endings, of_endings, plan, divisors, searches, hopes, end_ids, forbidden, totals, finished,
    running, ended, scores, ranked, rankers,
):  # fmt: skip
    """Steps until all searches have ended, or as many as there are divisors for.

    `trail` has for every step the rows that go on and their ids, of which `counts` says how many there are; its first
    line is what the first step begins with. `keeping` has a stage for each line, and how many numbers it has in a row:
    always, and for each position of the row. One thread alone searches among the logits of some rows at a time.
    """
    turn_number, last, near, kept = 1, buffers[len(buffers) - 1], plan[at.LOGITS], writing[at.KEPT]
    for step in range(len(divisors)):
        ids, rows = trail[step, 1], trail[step + 1, 0]
        _embed(ids, writing, factors, shape, buffers[0], stride, place, size)
        turn_number = go_through(place, size, barrier, shape, numbers, blocks, buffers, stride, turn_number)
        kept = _keep(kept, keeping, shape, buffers, stride, place, size)
        _finish(writing, factors, shape, numbers, last, stride, head, place, size)
        turn_number = meet(barrier, size, turn_number)
        if size > 1:
            _multiply(0, shape[at.N_ROWS], shape, last, stride, head, plan, place, size)
            turn_number = meet(barrier, size, turn_number)
        first, end = share(state[at.N_LIVE], place, size)
        while first < end:
            until = end
            if size == 1:
                until = _some_searches(searches, first, end)
                row, final = searches[first, at.FIRST_ROW], searches[until - 1]
                row_end = final[at.FIRST_ROW] + final[at.N_BEAMS]
                plan[at.LOGITS] = near - row * plan[at.LOGITS_ROW]
                _multiply(row, row_end, shape, last, stride, head, plan, 0, 1)
            divisor = divisors[step]
            if not state[at.HOPEFUL]:
                hopes[first:until] = divisor
            search_some(
                first, until, plan, divisor, searches, hopes, end_ids, forbidden, totals, finished, running, ended,
                scores, live, ranked[step], rankers[step],
            )  # fmt: skip
            first = until
        turn_number = meet(barrier, size, turn_number)
        if place == 0:
            _go_on(
                state, live, plan[at.LENGTH] - 1, searches, hopes, totals, finished, running, ended, scores,
                rows, trail[step + 1, 1], said[step], endings, of_endings,
            )  # fmt: skip
            n_rows = state[at.N_ROWS_LEFT]
            counts[step] = n_rows
            _change_places(shape, writing, rows, n_rows)
            shape[at.N_ROWS], shape[at.POSITION_BIAS] = n_rows, max(0, shape[at.POSITION_BIAS] - 4)
            shape[at.N_PAST] += 1
            plan[at.LENGTH] += 1
            state[at.N_STEPS] += 1
        turn_number = meet(barrier, size, turn_number)
        if state[at.N_LIVE] <= 0:
            break
