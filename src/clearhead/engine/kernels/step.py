# pyright: basic
"""One step of decoding through all blocks of a stack, in one call.

Stages follow one another as in `Block`: every thread does its share of the rows, heads or outputs of a stage, and
waits for the others before the next. Each stage leaves its values in a buffer, its own where probes want them.
"""

import sys
from typing import no_type_check

from numba import types

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.attention import attend, turn
from clearhead.engine.kernels.machine import arrive, look
from clearhead.engine.kernels.multiply import multiply, round_rows
from clearhead.engine.kernels.norms import add, norm
from clearhead.engine.kernels.rows import bend, entry, floats, kernel, share, wholes
from clearhead.engine.kernels.within import attend_within, lay, rooms

_PATIENCE = 2_000

# A block is three sublayers of two products each: into the sublayer, and out of it.
SELF, CROSS, FFN = 0, 2, 4
_PRODUCTS = (at.QKV, at.OUTPUT, at.CROSS_QUERY, at.CROSS_OUTPUT, at.UP, at.DOWN)
_READS = (at.SELF_IN, at.MIXED, at.CROSS_IN, at.CROSS_MIXED, at.FFN_IN, at.HIDDEN)
_WRITES = (at.SELF_QKV, at.SELF_OUT, at.CROSS_Q, at.CROSS_OUT, at.EXPANDED, at.FFN_OUT)
_LEAVES = (at.MID, at.MID, at.CROSS_SUM, at.CROSS_SUM, at.POST, at.POST)
_NORMS = (at.SELF_NORM, at.SELF_NORM, at.CROSS_NORM, at.CROSS_NORM, at.FFN_NORM, at.FFN_NORM)

_yield = types.ExternalFunction("sched_yield", types.int32()) if sys.platform != "win32" else None


@kernel
@no_type_check
def meet(barrier, size, turn_number):
    """Waits until every thread has come here; gives the number of the meeting after these."""
    if size > 1:
        arrive(barrier)
        looks = 0
        while look(barrier) < size * turn_number:
            looks += 1
            if _yield is not None and looks > _PATIENCE:
                _yield()
    return turn_number + 1


@kernel
@no_type_check
def _before(op, shape, numbers, block, where, stride, place, size):
    """Rows on their way into a product: normed where a sublayer begins and norms stand before; rounded."""
    source = _READS[op]
    first, end = share(shape[at.N_ROWS], place, size)
    if op % 2 == 0 and shape[at.NORM_BEFORE]:
        weight, bias = block[_NORMS[op]], block[_NORMS[op] + 1]
        stream = _stream(op, shape)
        for i in range(first, end):
            x, out = where[stream] + i * stride[stream], where[source] + i * stride[source]
            norm(x, out, shape[at.WIDTH], weight, bias, shape[at.NORM_KIND], numbers[at.EPSILON])
    elif op % 2 == 0:
        source = _stream(op, shape)
    if shape[at.FORMAT] == at.INT8:
        product = block[_PRODUCTS[op] : _PRODUCTS[op] + at.PRODUCT_SIZE]
        rounded, scales = shape[at.ROUNDED], shape[at.ROW_SCALES]
        round_rows(product, where[source], stride[source], rounded, shape[at.ROUNDED_STRIDE], scales, first, end)
    return source


@kernel
@no_type_check
def _stream(op, shape):
    """Where the stream is before a sublayer."""
    if op < CROSS:
        return at.PRE
    return at.MID if op < FFN or not shape[at.HAS_CROSS] else at.CROSS_SUM


@kernel
@no_type_check
def _leave(op, shape, numbers, block, where, stride, target, place, size):
    """The stream after a sublayer: what it was plus what was added, normed where norms stand after."""
    first, end = share(shape[at.N_ROWS], place, size)
    source, delta = _stream(op, shape), _WRITES[op]
    weight, bias = block[_NORMS[op]], block[_NORMS[op] + 1]
    for i in range(first, end):
        out = where[target] + i * stride[target]
        add(where[source] + i * stride[source], where[delta] + i * stride[delta], out, shape[at.WIDTH])
        if not shape[at.NORM_BEFORE]:
            norm(out, out, shape[at.WIDTH], weight, bias, shape[at.NORM_KIND], numbers[at.EPSILON])


@kernel
@no_type_check
def _look_around(shape, numbers, block, where, stride, place, size):
    """Self-attention of every row over its past and itself, which it adds to the cache."""
    heads, groups, width = shape[at.N_HEADS], shape[at.N_KV_HEADS], shape[at.HEAD_WIDTH]
    n_keys = shape[at.N_PAST] + 1
    first, end = share(shape[at.N_ROWS] * groups, place, size)
    for unit in range(first, end):
        i, g = unit // groups, unit % groups
        row = where[at.SELF_QKV] + i * stride[at.SELF_QKV]
        lines = shape[at.LINES] + i * shape[at.LINES_ROW] if shape[at.LINES] else 0
        own = i * shape[at.CACHE_ROW] + g * shape[at.CACHE_HEAD]
        new_key = floats(row + 4 * (heads + g) * width, width)
        own_key = floats(block[at.KEYS] + own + 4 * shape[at.N_PAST] * width, width)
        own_value = floats(block[at.VALUES] + own + 4 * shape[at.N_PAST] * width, width)
        cached = g * shape[at.CACHE_HEAD] if lines else own
        keys, values = block[at.KEYS] + cached, block[at.VALUES] + cached
        cosine, sine = shape[at.COSINE], shape[at.SINE]
        if cosine:
            cosine, sine = cosine + i * shape[at.ROTATION_ROW], sine + i * shape[at.ROTATION_ROW]
            turned_key = floats(where[at.TURNED_KEY] + i * stride[at.TURNED_KEY] + 4 * g * width, width)
            turn(new_key, turned_key, cosine, sine)
            own_key[:] = turned_key
        else:
            own_key[:] = new_key
        own_value[:] = floats(row + 4 * (heads + groups + g) * width, width)
        mask = shape[at.MASK] + i * shape[at.MASK_ROW] if shape[at.MASK] else 0
        for h in range(g * (heads // groups), (g + 1) * (heads // groups)):
            query = row + 4 * h * width
            if cosine:
                turned = where[at.TURNED] + i * stride[at.TURNED] + 4 * h * width
                turn(floats(query, width), floats(turned, width), cosine, sine)
                query = turned
            bias = shape[at.POSITION_BIAS] + h * shape[at.POSITION_BIAS_HEAD] if shape[at.POSITION_BIAS] else 0
            offset = i * stride[at.SCORES] + 4 * h * n_keys
            score, pattern = where[at.SCORES] + offset, where[at.PATTERN] + offset
            mixed = where[at.MIXED] + i * stride[at.MIXED] + 4 * h * width
            scale, apart = numbers[at.SCORE_SCALE], shape[at.CACHE_ROW]
            attend(
                query, keys, values, lines, apart, 4 * width, width, scale, bias, mask, score, pattern, mixed, n_keys
            )


@kernel
@no_type_check
def _look_within(layer, shape, numbers, where, stride, place, size):
    """Self-attention of rows that are texts laid end to end, each row over all of its text; nothing is masked.

    Scores are not kept, and patterns only where they are asked for. Threads take turns with the heads of all texts.
    """
    heads, groups, width = shape[at.N_HEADS], shape[at.N_KV_HEADS], shape[at.HEAD_WIDTH]
    spans, step = wholes(shape[at.SPANS], 2 * shape[at.N_ROWS]), stride[at.SELF_QKV]
    first, longest, unit = 0, 0, 0
    while first < shape[at.N_ROWS]:
        longest = max(longest, spans[2 * first + 1])
        first += spans[2 * first + 1]
    room, first = rooms(longest, width), 0
    while first < shape[at.N_ROWS]:
        text, n = where[at.SELF_QKV] + first * step, spans[2 * first + 1]
        mixed = where[at.MIXED] + first * stride[at.MIXED]
        for g in range(groups):
            unit += 1
            if unit % size != place:
                continue
            keys = text + 4 * (heads + g) * width
            lay(keys + 4 * groups * width, step, width, n, room[1])
            for h in range(g * (heads // groups), (g + 1) * (heads // groups)):
                query, out, scale = text + 4 * h * width, mixed + 4 * h * width, numbers[at.SCORE_SCALE]
                kept, apart = shape[at.PATTERNS], shape[at.PATTERNS_ROW]
                if kept:
                    kept += layer * shape[at.PATTERNS_LAYER] + first * apart + 4 * h * n
                attend_within(query, keys, step, width, scale, n, room, out, stride[at.MIXED], kept, apart)
        first += n


@kernel
@no_type_check
def _look_one_by_one(shape, numbers, where, stride, place, size):
    """The same for heads whose width is not that of whole panels; every thread has one row of memory for scores."""
    heads, groups, width = shape[at.N_HEADS], shape[at.N_KV_HEADS], shape[at.HEAD_WIDTH]
    spans = wholes(shape[at.SPANS], 2 * shape[at.N_ROWS])
    step = stride[at.SELF_QKV]
    score, pattern = where[at.SCORES] + place * stride[at.SCORES], where[at.PATTERN] + place * stride[at.PATTERN]
    first, end = share(shape[at.N_ROWS] * groups, place, size)
    for unit in range(first, end):
        i, g = unit // groups, unit % groups
        text, n_keys = where[at.SELF_QKV] + spans[2 * i] * step, spans[2 * i + 1]
        keys, values = text + 4 * (heads + g) * width, text + 4 * (heads + groups + g) * width
        for h in range(g * (heads // groups), (g + 1) * (heads // groups)):
            query = where[at.SELF_QKV] + i * step + 4 * h * width
            mixed = where[at.MIXED] + i * stride[at.MIXED] + 4 * h * width
            scale = numbers[at.SCORE_SCALE]
            attend(query, keys, values, 0, 0, step, width, scale, 0, 0, score, pattern, mixed, n_keys)


@kernel
@no_type_check
def _look_across(shape, numbers, block, where, stride, place, size):
    """Cross-attention of every row over its source, which is cached."""
    heads, groups, width = shape[at.N_HEADS], shape[at.N_KV_HEADS], shape[at.HEAD_WIDTH]
    n_keys = shape[at.SOURCE_LENGTH]
    first, end = share(shape[at.N_ROWS] * groups, place, size)
    for unit in range(first, end):
        i, g = unit // groups, unit % groups
        lines = shape[at.SOURCE_LINES] + i * shape[at.SOURCE_LINES_ROW] if shape[at.SOURCE_LINES] else 0
        cached = g * shape[at.SOURCE_HEAD] + (0 if lines else i * shape[at.SOURCE_ROW])
        keys, values = block[at.SOURCE_KEYS] + cached, block[at.SOURCE_VALUES] + cached
        mask = shape[at.SOURCE_MASK] + i * shape[at.SOURCE_MASK_ROW] if shape[at.SOURCE_MASK] else 0
        for h in range(g * (heads // groups), (g + 1) * (heads // groups)):
            query = where[at.CROSS_Q] + i * stride[at.CROSS_Q] + 4 * h * width
            offset = i * stride[at.CROSS_SCORES] + 4 * h * n_keys
            score, pattern = where[at.CROSS_SCORES] + offset, where[at.CROSS_PATTERN] + offset
            mixed = where[at.CROSS_MIXED] + i * stride[at.CROSS_MIXED] + 4 * h * width
            scale, apart = numbers[at.SCORE_SCALE], shape[at.SOURCE_ROW]
            attend(query, keys, values, lines, apart, 4 * width, width, scale, 0, mask, score, pattern, mixed, n_keys)


@kernel
@no_type_check
def _bend(shape, where, stride, place, size):
    """The hidden layer of the feed-forward network, from what was expanded: a share of every row."""
    n = shape[at.FFN_WIDTH]
    first, end = share(n, place, size)
    for i in range(shape[at.N_ROWS]):
        expanded, hidden = where[at.EXPANDED] + i * stride[at.EXPANDED], where[at.HIDDEN] + i * stride[at.HIDDEN]
        bend(expanded + 4 * first, hidden + 4 * first, end - first, shape[at.ACTIVATION])
        if shape[at.GATED]:
            gated, gates = floats(hidden, n), floats(expanded + 4 * n, n)
            for j in range(first, end):
                gated[j] *= gates[j]


@kernel
@no_type_check
def _go_on(shape, source, target, stride, place, size):
    """What a block leaves is what the next begins with; every thread moves the rows that it will read itself."""
    first, end = share(shape[at.N_ROWS], place, size)
    for i in range(first, end):
        x = floats(target + i * stride[at.PRE], shape[at.WIDTH])
        x[:] = floats(source + i * stride[at.POST], shape[at.WIDTH])


@kernel
@no_type_check
def go_through(place, size, barrier, shape, numbers, blocks, buffers, stride, turn_number):
    """The stream through all blocks; it comes in PRE of the first and is left in POST of the last.

    `buffers` has one row of addresses for all blocks, which then leave the stream where the next begins, or one for
    each. Every thread leaves the rows that are its share; gives the number of the next meeting.
    """
    for layer in range(len(blocks)):
        block, where = blocks[layer], buffers[min(layer, len(buffers) - 1)]
        if layer and len(buffers) > 1:
            _go_on(shape, buffers[layer - 1, at.POST], where[at.PRE], stride, place, size)
        for op in range(len(_PRODUCTS)):
            if CROSS <= op < FFN and not shape[at.HAS_CROSS]:
                continue
            source, target = _before(op, shape, numbers, block, where, stride, place, size), _WRITES[op]
            turn_number = meet(barrier, size, turn_number)
            multiply(
                shape[at.FORMAT],
                block[_PRODUCTS[op] : _PRODUCTS[op] + at.PRODUCT_SIZE],
                where[source],
                stride[source],
                shape[at.ROUNDED],
                shape[at.ROUNDED_STRIDE],
                shape[at.ROW_SCALES],
                shape[at.N_ROWS],
                where[target],
                stride[target],
                place,
                size,
            )
            turn_number = meet(barrier, size, turn_number)
            if op % 2:
                goes_on = op > FFN and layer + 1 < len(blocks) and len(buffers) == 1
                leaves = at.PRE if goes_on else _LEAVES[op]
                _leave(op, shape, numbers, block, where, stride, leaves, place, size)
            else:
                if op == SELF and shape[at.SPANS]:
                    if shape[at.HEAD_WIDTH] % at.PANEL:
                        _look_one_by_one(shape, numbers, where, stride, place, size)
                    else:
                        _look_within(layer, shape, numbers, where, stride, place, size)
                elif op == SELF:
                    _look_around(shape, numbers, block, where, stride, place, size)
                elif op == CROSS:
                    _look_across(shape, numbers, block, where, stride, place, size)
                else:
                    _bend(shape, where, stride, place, size)
                turn_number = meet(barrier, size, turn_number)
    return turn_number


@entry("void(int64, int64, int64, int64[::1], float32[::1], int64[:, ::1], int64[:, ::1], int64[::1])")
@no_type_check
def pass_blocks(place, size, barrier, shape, numbers, blocks, buffers, stride):
    """The stream through all blocks."""
    turn_number = go_through(place, size, barrier, shape, numbers, blocks, buffers, stride, 1)
    meet(barrier, size, turn_number)
