# pyright: basic, reportPrivateImportUsage=false
"""What happens to one row between two products: bends, norms and roundings."""

import math
from typing import no_type_check

import numpy as np
from numba import carray, float32, int16, int32, int64, njit, uint8

from clearhead.engine.kernels.fields import GELU, GELU_TANH, LAYER, RELU, SILU
from clearhead.engine.kernels.machine import of_bits, pointer, power_of_two

SIZE, INFINITE = 0x7FFFFFFF, 0x7F800000
"""The bits of a float without its sign, and those of infinity."""

_INNER = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
kernel = njit(**_INNER)
summing = njit(fastmath={"reassoc", "contract"}, **_INNER)
"""For sums along a row, whose order nothing else depends on."""


def entry(signature):
    """A kernel that Python calls: compiled, or read from the disk, when its module is imported."""
    return njit(signature, nogil=True, cache=True, error_model="numpy")


@kernel
@no_type_check
def floats(address, n):
    """The floats at an address."""
    return carray(pointer(address, float32), (n,))


@kernel
@no_type_check
def shorts(address, n):
    """The 16-bit numbers at an address."""
    return carray(pointer(address, int16), (n,))


@kernel
@no_type_check
def wholes(address, n):
    """The whole numbers at an address."""
    return carray(pointer(address, int64), (n,))


@kernel
@no_type_check
def flags(address, n):
    """The booleans at an address."""
    return carray(pointer(address, uint8), (n,))


@kernel
@no_type_check
def share(n, place, size):
    """Which of n things a thread does: first and end."""
    return n * place // size, n * (place + 1) // size


@kernel
@no_type_check
def exponential(x):
    """The exponential, to the last bit or two; made of what a processor does to eight numbers at once."""
    x = min(max(x, float32(-87.0)), float32(88.0))
    n = np.floor(x * float32(1.4426950408889634) + float32(0.5))
    r = x - n * float32(0.693359375) - n * float32(-2.12194440e-4)
    p = float32(1.9875691500e-4)
    p = p * r + float32(1.3981999507e-3)
    p = p * r + float32(8.3334519073e-3)
    p = p * r + float32(4.1665795894e-2)
    p = p * r + float32(1.6666665459e-1)
    p = p * r + float32(5.0000001201e-1)
    return (p * r * r + r + float32(1.0)) * power_of_two(int32(n))


@kernel
@no_type_check
def _tanh(x):
    return float32(1.0) - float32(2.0) / (exponential(float32(2.0) * x) + float32(1.0))


@kernel
@no_type_check
def _error_function(x):
    """erf, within 2e-7 (Abramowitz and Stegun 7.1.26)."""
    z = abs(x)
    t = float32(1.0) / (float32(1.0) + float32(0.3275911) * z)
    p = float32(1.061405429)
    p = p * t - float32(1.453152027)
    p = p * t + float32(1.421413741)
    p = p * t - float32(0.284496736)
    p = p * t + float32(0.254829592)
    y = float32(1.0) - p * t * exponential(-z * z)
    return y if x >= 0 else -y


@kernel
@no_type_check
def bend(x, kind):
    """The activation of every number, in place."""
    if kind == RELU:
        for i in range(len(x)):
            x[i] = max(x[i], float32(0.0))
    elif kind == GELU:
        for i in range(len(x)):
            x[i] = float32(0.5) * x[i] * (float32(1.0) + _error_function(x[i] * float32(0.7071067811865476)))
    elif kind == GELU_TANH:
        for i in range(len(x)):
            inner = float32(0.7978845608028654) * (x[i] + float32(0.044715) * x[i] * x[i] * x[i])
            x[i] = float32(0.5) * x[i] * (float32(1.0) + _tanh(inner))
    elif kind == SILU:
        for i in range(len(x)):
            x[i] = x[i] / (float32(1.0) + exponential(-x[i]))
    else:
        for i in range(len(x)):
            x[i] = _tanh(x[i])


@summing
@no_type_check
def _sum(x):
    total = float32(0.0)
    for i in range(len(x)):
        total += x[i]
    return total


@summing
@no_type_check
def _sum_of_squares(x, middle):
    total = float32(0.0)
    for i in range(len(x)):
        total += (x[i] - middle) * (x[i] - middle)
    return total


@kernel
@no_type_check
def norm(x, out, weight, bias, kind, epsilon):
    """The norm of one row; `weight` and `bias` are addresses."""
    n = len(x)
    middle = _sum(x) / float32(n) if kind == LAYER else float32(0.0)
    factor = float32(1.0) / math.sqrt(_sum_of_squares(x, middle) / float32(n) + epsilon)
    w = floats(weight, n)
    for i in range(n):
        out[i] = (x[i] - middle) * factor * w[i]
    if kind == LAYER:
        b = floats(bias, n)
        for i in range(n):
            out[i] += b[i]


@kernel
@no_type_check
def round_row(x, out, largest):
    """A row as whole numbers of at most `largest`; gives the scale that makes them floats again."""
    bits = x.view(np.int32)  # as whole numbers, sizes are in the same order, and what is no number is above all
    size = int32(0)
    for i in range(len(x)):
        size = max(size, bits[i] & int32(SIZE))
    if size >= INFINITE or size == 0:
        out[:] = 0
        return float32(np.nan) if size else float32(0.0)
    most = of_bits(size)
    factor = largest / most
    for i in range(len(x)):
        out[i] = int16(int32(round_half_even(x[i] * factor)))
    return most / largest


@kernel
@no_type_check
def round_half_even(x):
    """The nearest whole number; of two, the even one."""
    shift = float32(12582912.0)  # where floats are whole numbers: adding it rounds
    return (x + shift) - shift
