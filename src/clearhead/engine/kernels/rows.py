# pyright: basic, reportPrivateImportUsage=false
"""What happens to one row between two products: bends and roundings; and what else all kernels share."""

from typing import no_type_check

import numpy as np
from numba import carray, float32, int8, int16, int32, int64, njit, uint8

from clearhead.engine.kernels.curves import gelu, gelu_tanh, relu, silu, tanh
from clearhead.engine.kernels.fields import GELU, GELU_TANH, RELU, SILU
from clearhead.engine.kernels.machine import pointer

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
def bytes_at(address, n):
    """The 8-bit numbers at an address."""
    return carray(pointer(address, int8), (n,))


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
    """The booleans, or bytes without a sign, at an address."""
    return carray(pointer(address, uint8), (n,))


@kernel
@no_type_check
def share(n, place, size):
    """Which of n things a thread does: first and end."""
    return n * place // size, n * (place + 1) // size


@kernel
@no_type_check
def bend(source, target, n, kind):
    """The activation of n numbers at an address, left at another."""
    if kind == RELU:
        relu(source, target, n)
    elif kind == GELU:
        gelu(source, target, n)
    elif kind == GELU_TANH:
        gelu_tanh(source, target, n)
    elif kind == SILU:
        silu(source, target, n)
    else:
        tanh(source, target, n)


@kernel
@no_type_check
def largest_size(x):
    """The bits of the largest size in a row; those of infinity or more where it is not a finite number."""
    bits = x.view(np.int32)  # as whole numbers, sizes are in the same order, and what is no number is above all
    size = int32(0)
    for i in range(len(x)):
        size = max(size, bits[i] & int32(SIZE))
    return size


@kernel
@no_type_check
def nearest(x, factor):
    """The whole number that is nearest to a product; of two, the even one."""
    return int32(round_half_even(x * factor))


@kernel
@no_type_check
def is_even(x, factor, even):
    """Whether the numbers of a row are of like size, so that one byte does for each; exact, in whole numbers."""
    total = int32(0)
    for i in range(len(x)):
        total += abs(nearest(x[i], factor))
    return total >= even * len(x)


@kernel
@no_type_check
def round_half_even(x):
    """The nearest whole number; of two, the even one."""
    shift = float32(12582912.0)  # where floats are whole numbers: adding it rounds
    return (x + shift) - shift
