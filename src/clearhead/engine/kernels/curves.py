# pyright: basic, reportPrivateImportUsage=false
"""Curves that bend numbers, a register at a time: activations, exponentials, and the largest of many.

A compiler writes most of these loops number by number, which takes three times as long. What is left at the end of a
row goes through a register of its own, by the same arithmetic: a number has the same image wherever it stands.
"""

from typing import no_type_check

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from clearhead.engine.kernels.fields import CHUNK
from clearhead.engine.kernels.instructions import (
    F32,
    FLOATS,
    INTS,
    LANES,
    alike,
    fill,
    first_lanes,
    larger,
    largest_of,
    multiply_add,
    number,
    put,
    put_some,
    register,
    take,
    take_some,
    total_of,
)

LEAST = -3.0e38
"""A number whose exponential is nothing beside any other's."""
_EXPONENTIAL = (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
_BITS = 1.4426950408889634
"""The binary logarithm of e."""
_POWER = 1.32647274e-3, (9.67151297e-3, 5.55073375e-2, 2.40222421e-1, 6.93146978e-1, 1.0)
"""2 to the power of half a number and less; fitted so that the largest error is least."""
_TAIL = (
    -1.9020659e-6,
    (2.80569437e-5, -1.31473237e-4, -2.72075704e-4, 7.2454212e-3, -5.26276108e-2, -4.59162143e-1, -1.15111105),
)
"""log2 erfc(z / sqrt 2) / z, from 0 to where nothing is left of it; fitted for the error of GELU."""
_FAR = 7.0
_ROUND = 12582912.0
"""Where floats are whole numbers: adding it rounds, and leaves the whole number in the last bits."""


@no_type_check
def _polynomial(b, x, first, others):
    fma, total = multiply_add(b), alike(first)
    for coefficient in others:
        total = b.call(fma, [total, x, alike(coefficient)])
    return total


@no_type_check
def exponential(b, x, *, falling=False):
    """The exponential, to the last bit or two; what is no number stays none. Where it is falling, x is at most 0."""
    fma = multiply_add(b)
    x = larger(b, alike(-87.0), x)
    if not falling:
        x = b.select(b.fcmp_ordered("<", alike(88.0), x), alike(88.0), x)
    bits = b.call(fma, [x, alike(_BITS), alike(_ROUND)])
    n = b.fsub(bits, alike(_ROUND))
    r = b.call(fma, [n, alike(-0.693359375), x])
    r = b.call(fma, [n, alike(2.12194440e-4), r])
    p = _polynomial(b, r, 1.9875691500e-4, _EXPONENTIAL)
    p = b.fadd(b.call(fma, [p, b.fmul(r, r), r]), alike(1.0))
    exponent = b.shl(b.bitcast(bits, INTS), ir.Constant(INTS, [23] * LANES))
    return b.fmul(p, b.bitcast(b.add(exponent, ir.Constant(INTS, [127 << 23] * LANES)), FLOATS))


@no_type_check
def _power_of_two(b, x):
    """Two to the power of x, within 2e-7 of itself, for numbers from -126 to 126."""
    bits = b.fadd(x, alike(_ROUND))
    part = _polynomial(b, b.fsub(x, b.fsub(bits, alike(_ROUND))), *_POWER)
    exponent = b.shl(b.bitcast(bits, INTS), ir.Constant(INTS, [23] * LANES))
    return b.bitcast(b.add(b.bitcast(part, INTS), exponent), FLOATS)


@no_type_check
def _relu(b, x):
    return larger(b, alike(0.0), x)


@no_type_check
def _gelu(b, x):
    """What is above 0, less what the bell takes of it: half of |x| erfc(|x| / sqrt 2), a power of two, within 3e-7."""
    fma = multiply_add(b)
    size = b.bitcast(b.and_(b.bitcast(x, INTS), ir.Constant(INTS, [2**31 - 1] * LANES)), FLOATS)
    size = b.select(b.fcmp_ordered("<", size, alike(_FAR)), size, alike(_FAR))
    tail = _power_of_two(b, b.fmul(_polynomial(b, size, *_TAIL), size))
    return b.call(fma, [b.fmul(size, alike(-0.5)), tail, _relu(b, x)])


@no_type_check
def _silu(b, x):
    return b.fdiv(x, b.fadd(alike(1.0), exponential(b, b.fneg(x))))


@no_type_check
def _tanh(b, x):
    grown = b.fadd(exponential(b, b.fmul(alike(2.0), x)), alike(1.0))
    return b.fsub(alike(1.0), b.fdiv(alike(2.0), grown))


@no_type_check
def _gelu_tanh(b, x):
    cubed = b.fmul(b.fmul(alike(0.044715), x), b.fmul(x, x))
    inner = b.fmul(alike(0.7978845608028654), b.fadd(x, cubed))
    return b.fmul(b.fmul(alike(0.5), x), b.fadd(alike(1.0), _tanh(b, inner)))


@no_type_check
def _by_registers(b, n, source, target, one):
    """Takes every register of n floats to `one(register)`, and leaves what it gives; the last is filled with the least.

    Where nothing is to be kept, `target` is None.
    """
    whole, left = b.udiv(n, number(LANES)), b.urem(n, number(LANES))
    with cgutils.for_range(b, whole) as loop:
        offset = register(b, loop.index)
        found = one(take(b, source, offset, FLOATS, 4))
        if target is not None:
            put(b, found, target, offset, 4)
    with b.if_then(b.icmp_signed(">", left, number(0))):
        offset, mask = register(b, whole), first_lanes(b, left)
        found = one(take_some(b, source, offset, mask, alike(LEAST)))
        if target is not None:
            put_some(b, found, target, offset, mask)


@no_type_check
def _make_curve(curve):
    """A curve of n floats at `source`, left at `target`, which may be the same."""

    @intrinsic
    @no_type_check
    def run(context, source, target, n):
        def code(made, b, signature, args):
            _by_registers(b, args[2], args[0], args[1], lambda x: curve(b, x))
            return made.get_dummy_value()

        return types.void(*[types.intp] * 3), code

    return run


relu, gelu, gelu_tanh, silu, tanh = map(_make_curve, (_relu, _gelu, _gelu_tanh, _silu, _tanh))


@intrinsic
@no_type_check
def exponentials(context, source, target, n, most):
    """Leaves the exponentials of n floats, `most` taken from each, at `target`; gives their sum."""

    def code(made, b, signature, args):
        most, sums = fill(b, args[3], FLOATS), cgutils.alloca_once_value(b, alike(0.0))

        def one(x):
            grown = exponential(b, b.fsub(x, most), falling=True)
            b.store(b.fadd(b.load(sums), grown), sums)
            return grown

        _by_registers(b, args[2], args[0], args[1], one)
        return total_of(b, b.load(sums))

    return types.float32(*[types.intp] * 3, types.float32), code


@intrinsic
@no_type_check
def sum_of_exponentials(context, source, n, most):
    """The sum of the exponentials of n floats, `most` taken from each, which is the largest: as powers of two."""

    def code(made, b, signature, args):
        most, sums = fill(b, args[2], FLOATS), cgutils.alloca_once_value(b, alike(0.0))

        def one(x):
            power = larger(b, alike(-126.0), b.fmul(b.fsub(x, most), alike(_BITS)))
            b.store(b.fadd(b.load(sums), _power_of_two(b, power)), sums)

        _by_registers(b, args[1], args[0], None, one)
        return total_of(b, b.load(sums))

    return types.float32(*[types.intp] * 2, types.float32), code


@intrinsic
@no_type_check
def highest(context, source, n):
    """The largest of n floats, and no less than the least."""

    def code(made, b, signature, args):
        most = cgutils.alloca_once_value(b, alike(LEAST))
        _by_registers(b, args[1], args[0], None, lambda x: b.store(larger(b, x, b.load(most)), most))
        return largest_of(b, b.load(most))

    return types.float32(*[types.intp] * 2), code


@intrinsic
@no_type_check
def peak(context, source):
    """The largest of the floats of a chunk; no number where one of them is none."""

    def code(made, b, signature, args):
        x = [take(b, args[0], number(4 * LANES * i), FLOATS, 4) for i in range(CHUNK // LANES)]
        strange = None
        for left, right in zip(x[::2], x[1::2], strict=True):
            none = b.fcmp_unordered("uno", left, right)
            strange = none if strange is None else b.or_(strange, none)
        while len(x) > 1:
            x = [larger(b, left, right) for left, right in zip(x[::2], x[1::2], strict=True)]
        flags = b.bitcast(strange, ir.IntType(LANES))
        sound = b.icmp_unsigned("==", flags, ir.Constant(ir.IntType(LANES), 0))
        return b.select(sound, largest_of(b, x[0]), ir.Constant(F32, float("nan")))

    return types.float32(types.intp), code
