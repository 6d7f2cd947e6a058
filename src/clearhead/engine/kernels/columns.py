# pyright: basic, reportPrivateImportUsage=false
"""Scores with a query in every lane: what is asked of a column of keys is asked of as many queries at once.

The largest score of a query, and the sum of its exponentials, are then made register by register, without ever looking
across one.
"""

from typing import no_type_check

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from clearhead.engine.kernels.curves import LEAST, exponential
from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.instructions import (
    FLOATS,
    I32,
    LANES,
    alike,
    fill,
    larger,
    number,
    put,
    take,
    turn_by_turn,
)


@no_type_check
def _turned(b, registers):
    """A square of registers with its rows as columns.

    Two registers that are half a square apart lie interleaved after a round; after as many rounds as a lane's number
    has bits, lanes and registers have changed places.
    """
    pick = [ir.Constant(ir.VectorType(I32, LANES), _interleaved(half)) for half in range(2)]
    for _ in range(LANES.bit_length() - 1):
        pairs = zip(registers[: LANES // 2], registers[LANES // 2 :], strict=True)
        registers = [b.shuffle_vector(left, right, half) for left, right in pairs for half in pick]
    return registers


def _interleaved(half: int) -> list[int]:
    """Which lanes of two registers meet in the first or second half of them interleaved."""
    first = half * LANES // 2
    return [lane for i in range(first, first + LANES // 2) for lane in (i, LANES + i)]


@intrinsic
@no_type_check
def turn_over(context, source, step, n, width, factor, target):
    """Up to a panel of rows of so many floats, times a factor, left as [width, row]; the last row fills the panel.

    `width` is that of whole panels; rows lie `step` bytes apart.
    """

    def code(made, b, signature, args):
        source, step, n, width, factor, target = args
        each, last = fill(b, factor, FLOATS), b.sub(n, number(1))
        places = [b.select(b.icmp_signed("<", number(i), n), number(i), last) for i in range(PANEL)]
        rows = [b.add(source, b.mul(place, step)) for place in places]

        def body(place, _):
            offset = b.mul(place, number(4 * LANES))
            for first in range(0, PANEL, LANES):
                square = [b.fmul(take(b, row, offset, FLOATS, 4), each) for row in rows[first : first + LANES]]
                for i, column in enumerate(_turned(b, square)):
                    where = b.add(b.mul(offset, number(PANEL)), number(4 * (PANEL * i + first)))
                    put(b, column, target, where, 4)
            return []

        turn_by_turn(b, b.udiv(width, number(LANES)), [], body)
        return made.get_dummy_value()

    return types.void(*[types.intp] * 4, types.float32, types.intp), code


@intrinsic
@no_type_check
def soften_down(context, scores, n, step):
    """The patterns of a panel of queries over n keys, in the place of their scores; keys lie `step` bytes apart."""

    def code(made, b, signature, args):
        scores, n, step = args
        parts = [number(4 * LANES * i) for i in range(PANEL // LANES)]

        def each(place):
            return [b.add(b.mul(place, step), part) for part in parts]

        def look(place, most):
            return [larger(b, take(b, scores, at, FLOATS, 4), one) for at, one in zip(each(place), most, strict=True)]

        most = turn_by_turn(b, n, [alike(LEAST)] * len(parts), look)

        def grow(place, sums):
            found = []
            for at, one, total in zip(each(place), most, sums, strict=True):
                grown = exponential(b, b.fsub(take(b, scores, at, FLOATS, 4), one), falling=True)
                put(b, grown, scores, at, 4)
                found.append(b.fadd(total, grown))
            return found

        sums = turn_by_turn(b, n, [alike(0.0)] * len(parts), grow)
        factors = [b.fdiv(alike(1.0), total) for total in sums]

        def divide(place, _):
            for at, factor in zip(each(place), factors, strict=True):
                put(b, b.fmul(take(b, scores, at, FLOATS, 4), factor), scores, at, 4)
            return []

        turn_by_turn(b, n, [], divide)
        return made.get_dummy_value()

    return types.void(*[types.intp] * 3), code
