# pyright: basic, reportPrivateImportUsage=false
"""Tiles of whole numbers: some outputs of a block by some rows, whose sums stay in registers and are exact.

    out = sum * scale of the output * scale of the row + bias

Weights lie as [group of inputs, output, input of the group], one byte each, so that a tile reads one line after
another. Rows are found by their numbers. Each turn reads two groups, and asks memory for `step` bytes that come later,
from `ahead` on.
"""

from typing import no_type_check

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from clearhead.engine.kernels.depth import PAIRS, depth
from clearhead.engine.kernels.fields import OUTPUTS
from clearhead.engine.kernels.instructions import (
    BYTES,
    F32,
    FLOATS,
    I32,
    I64,
    INTS,
    LANES,
    SHORTS,
    ask_for,
    fill,
    number,
    put,
    sum_pairs,
    sum_quads,
    take,
    turn_by_turn,
)

_BUSY = 8
"""Sums that have to be under way at once: one waits so long for the next that half as many would leave gaps."""
_LINE = OUTPUTS * depth()
"""Bytes of a group of inputs, for all outputs of a block."""
_FETCHED = 64
"""Bytes that memory gives at once."""


@no_type_check
def _pair_sums(b, weight, read, rows, place, sums, wide):
    """Adds the products of two inputs, for every row and output; rows are 16-bit numbers."""
    w = [b.sext(take(b, weight, b.add(read, number(2 * LANES * i)), BYTES, 1), SHORTS) for i in range(wide)]
    found = []
    for m, (row,) in enumerate(rows):
        x = b.bitcast(fill(b, take(b, row, b.shl(place, number(2)), I32, 2), INTS), SHORTS)
        found += [b.add(sums[m * wide + i], sum_pairs(b, w[i], x)) for i in range(wide)]
    return found


@no_type_check
def _quad_sums(b, weight, read, rows, place, sums, wide):
    """Adds the products of four inputs, for every part of a row and every output; parts are bytes without a sign."""
    w = [take(b, weight, b.add(read, number(4 * LANES * i)), INTS, 1) for i in range(wide)]
    found = []
    for part in (part for row in rows for part in row):
        x = fill(b, take(b, part, b.shl(place, number(2)), I32, 1), INTS)
        found += [sum_quads(b, sums[len(found) + i], x, w[i]) for i in range(wide)]
    return found


@no_type_check
def _leave(b, sums, places, wide, n_parts):
    """Makes sums floats again, adds the bias, and leaves them in their rows."""
    which, row_scale, scale, bias, out, out_stride = places
    for i in range(wide):
        lane = number(4 * LANES * i)
        scales, biases = take(b, scale, lane, FLOATS, 4), take(b, bias, lane, FLOATS, 4)
        for m, row in enumerate(which):
            of_row = take(b, row_scale, b.shl(row, number(2)), F32, 4)
            total = sums[m * n_parts * wide + i]
            if n_parts == 2:
                of_row = b.fneg(of_row)
                high = b.shl(total, ir.Constant(INTS, [8] * LANES))
                total = b.add(high, sums[(m * n_parts + 1) * wide + i])
            product = b.fmul(b.fmul(b.sitofp(total, FLOATS), scales), fill(b, of_row, FLOATS))
            put(b, b.fadd(product, biases), out, b.add(lane, b.mul(out_stride, row)), 4)


@no_type_check
def make_int8_tile(n_rows, n_outputs=OUTPUTS, *, n_parts=1):
    """A tile of a block of outputs, or some of it, by `n_rows` rows, each of one byte a number or of two.

    The second byte lies `apart` bytes after the first, which counts 256 times; `shift` is what sums begin with, since
    bytes without a sign are 128 too large. The scale of a row of two bytes is negative.
    """
    wide, add = n_outputs // LANES, _pair_sums if depth() == PAIRS else _quad_sums
    n_sums = wide * n_rows * n_parts
    chains = 2 if n_sums < _BUSY else 1

    @intrinsic
    @no_type_check
    def tile(context, weight, turns, numbers, row, stride, apart, row_scale, scale, bias, shift, out, apart_out, ask):
        def code(target, b, signature, args):
            weight, turns, numbers, row, stride, apart, row_scale, scale, bias, shift, out, out_stride, ask = args
            ahead, step = b.extract_value(ask, 0), b.extract_value(ask, 1)
            which = [take(b, numbers, number(8 * m), I64, 8) for m in range(n_rows)]
            first = [b.add(row, b.mul(stride, each)) for each in which]
            rows = [[one, b.add(one, apart)][:n_parts] for one in first]
            n_asked = 2 * _LINE // _FETCHED
            asked = [b.add(ahead, b.sdiv(b.mul(step, number(i)), number(n_asked))) for i in range(n_asked)]

            def body(place, sums):
                sums = list(sums)
                for half in (0, 1):  # two groups a turn, so that turning costs less
                    group = b.add(b.shl(place, number(1)), number(half))
                    for one in asked[half::2]:
                        ask_for(b, b.add(one, b.mul(place, step)))
                    own = half % chains * n_sums
                    read = b.mul(group, number(_LINE))
                    sums[own : own + n_sums] = add(b, weight, read, rows, group, sums[own : own + n_sums], wide)
                return sums

            nothing = ir.Constant(INTS, [0] * LANES)
            begun = [nothing] * wide
            if add is _quad_sums:
                begun = [take(b, shift, number(4 * LANES * i), INTS, 4) for i in range(wide)]
            sums = turn_by_turn(b, turns, begun * (n_rows * n_parts) + [nothing] * (n_sums * (chains - 1)), body)
            if chains == 2:
                sums = [b.add(*both) for both in zip(sums[:n_sums], sums[n_sums:], strict=True)]
            _leave(b, sums, (which, row_scale, scale, bias, out, out_stride), wide, n_parts)
            return target.get_dummy_value()

        return types.void(*[types.intp] * 12, types.UniTuple(types.intp, 2)), code

    return tile
