# pyright: basic, reportPrivateImportUsage=false
"""Sums, norms and additions of rows, a register at a time.

Four sums grow side by side, because an addition takes longer than the next can wait. Their order depends on the length
of the row alone.
"""

import math
from typing import no_type_check

from llvmlite import ir
from numba import float32, types
from numba.core import cgutils
from numba.extending import intrinsic

from clearhead.engine.kernels.fields import LAYER
from clearhead.engine.kernels.instructions import (
    FLOATS,
    I64,
    LANES,
    alike,
    fill,
    first_lanes,
    multiply_add,
    number,
    put,
    put_some,
    register,
    take,
    take_some,
    total_of,
)
from clearhead.engine.kernels.rows import kernel

_ABREAST = 4


@no_type_check
def _along(b, n, one):
    """Does `one(place, offset, mask)` for every register of n floats; the mask is None but for the last.

    `place` says which of the sums that grow side by side it is for.
    """
    whole, left = b.udiv(n, number(LANES)), b.urem(n, number(LANES))
    turns = b.udiv(whole, number(_ABREAST))
    with cgutils.for_range(b, turns) as loop:
        first = register(b, b.mul(loop.index, number(_ABREAST)))
        for place in range(_ABREAST):
            one(place, b.add(first, number(4 * LANES * place)), None)
    with cgutils.for_range(b, b.sub(whole, b.mul(turns, number(_ABREAST)))) as loop:
        one(0, register(b, b.add(b.mul(turns, number(_ABREAST)), loop.index)), None)
    with b.if_then(b.icmp_signed(">", left, number(0))):
        one(0, register(b, whole), first_lanes(b, left))


@no_type_check
def _read(b, address, offset, mask):
    if mask is None:
        return take(b, address, offset, FLOATS, 4)
    return take_some(b, address, offset, mask, alike(0.0))


@no_type_check
def _leave(b, value, address, offset, mask):
    if mask is None:
        put(b, value, address, offset, 4)
    else:
        put_some(b, value, address, offset, mask)


@no_type_check
def _summed(b, n, one):
    """The sum of what `one(offset, mask, sum)` makes of each sum so far."""
    sums = [cgutils.alloca_once_value(b, alike(0.0)) for _ in range(_ABREAST)]
    _along(b, n, lambda place, offset, mask: b.store(one(offset, mask, b.load(sums[place])), sums[place]))
    first, second, third, fourth = (b.load(each) for each in sums)
    return total_of(b, b.fadd(b.fadd(first, second), b.fadd(third, fourth)))


@intrinsic
@no_type_check
def _total(context, source, n):
    """The sum of n floats."""

    def code(made, b, signature, args):
        source, n = args
        return _summed(b, n, lambda offset, mask, so_far: b.fadd(so_far, _read(b, source, offset, mask)))

    return types.float32(*[types.intp] * 2), code


@intrinsic
@no_type_check
def _total_of_squares(context, source, n, middle):
    """The sum of the squares of n floats, a number taken from each."""

    def code(made, b, signature, args):
        source, n, middle = args
        fma, middle = multiply_add(b), fill(b, middle, FLOATS)

        def one(offset, mask, so_far):
            apart = b.fsub(_read(b, source, offset, mask), middle)
            if mask is not None:
                apart = b.select(mask, apart, alike(0.0))
            return b.call(fma, [apart, apart, so_far])

        return _summed(b, n, one)

    return types.float32(*[types.intp] * 2, types.float32), code


@intrinsic
@no_type_check
def _spread(context, source, target, n, middle, factor, weight, bias):
    """Floats around their middle, times a factor and their own weights; plus biases, unless their address is 0."""

    def code(made, b, signature, args):
        source, target, n, middle, factor, weight, bias = args
        fma, middle, factor = multiply_add(b), fill(b, middle, FLOATS), fill(b, factor, FLOATS)

        def spread(place, offset, mask, *, biased):
            apart = b.fmul(b.fsub(_read(b, source, offset, mask), middle), factor)
            w = _read(b, weight, offset, mask)
            found = b.call(fma, [apart, w, _read(b, bias, offset, mask)]) if biased else b.fmul(apart, w)
            _leave(b, found, target, offset, mask)

        with b.if_else(b.icmp_signed("!=", bias, ir.Constant(I64, 0))) as (with_bias, without):
            with with_bias:
                _along(b, n, lambda *each: spread(*each, biased=True))
            with without:
                _along(b, n, lambda *each: spread(*each, biased=False))
        return made.get_dummy_value()

    numbers = (types.float32, types.float32, types.intp, types.intp)
    return types.void(*[types.intp] * 3, *numbers), code


@intrinsic
@no_type_check
def add(context, left, right, target, n):
    """The sums of two rows of n floats."""

    def code(made, b, signature, args):
        left, right, target, n = args

        def one(place, offset, mask):
            total = b.fadd(_read(b, left, offset, mask), _read(b, right, offset, mask))
            _leave(b, total, target, offset, mask)

        _along(b, n, one)
        return made.get_dummy_value()

    return types.void(*[types.intp] * 4), code


@kernel
@no_type_check
def norm(source, target, n, weight, bias, kind, epsilon):
    """The norm of one row, left at another address or the same; a bias of 0 stands for none."""
    middle = _total(source, n) / float32(n) if kind == LAYER else float32(0.0)
    factor = float32(1.0) / math.sqrt(_total_of_squares(source, n, middle) / float32(n) + epsilon)
    _spread(source, target, n, middle, factor, weight, bias)
