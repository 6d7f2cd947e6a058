# pyright: basic, reportPrivateImportUsage=false
"""The likeliest of a vocabulary, without sorting it."""

import math
from typing import no_type_check

import numpy as np
from numba import carray, float32, int64

from clearhead.engine.kernels.machine import pointer
from clearhead.engine.kernels.rows import entry, exponential, floats, kernel, share, summing
from clearhead.engine.kernels.step import meet

_CHUNK = 64
"""So many logits are looked at together: most chunks hold none that leads."""


@kernel
@no_type_check
def wholes(address, n):
    """The whole numbers at an address."""
    return carray(pointer(address, int64), (n,))


@kernel
@no_type_check
def _most(x, first, end):
    most = float32(-np.inf)
    for i in range(first, end):
        most = x[i] if x[i] > most else most
    return most


@summing
@no_type_check
def _sum_of_exponentials(x, most):
    total = float32(0.0)
    for i in range(len(x)):
        total += exponential(x[i] - most)
    return total


@kernel
@no_type_check
def logarithm_of_sum(x):
    """What is taken from logits to make them log-probabilities; no number where one of them is none."""
    most = _most(x, 0, len(x))
    if not abs(most) < float32(np.inf):
        return float32(np.nan)
    strange = False
    for i in range(len(x)):
        strange |= x[i] != x[i]
    return float32(np.nan) if strange else most + float32(math.log(_sum_of_exponentials(x, most)))


@kernel
@no_type_check
def largest(x, best, where):
    """The largest numbers in falling order and where they stand; of equals the first."""
    count, n = len(best), len(x)
    best[:] = float32(-np.inf)
    where[:] = 0
    for first in range(0, n, _CHUNK):
        end = min(first + _CHUNK, n)
        if _most(x, first, end) <= best[count - 1]:
            continue
        for i in range(first, end):
            if x[i] > best[count - 1]:
                place = count - 1
                while place > 0 and x[i] > best[place - 1]:
                    best[place], where[place] = best[place - 1], where[place - 1]
                    place -= 1
                best[place], where[place] = x[i], i


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def lead(place, size, barrier, logits, stride, n_rows, n, count, values, ids, totals):
    """The `count` largest of every row of n logits, and the logarithm of the sum of their exponentials."""
    first, end = share(n_rows, place, size)
    for i in range(first, end):
        x = floats(logits + i * stride, n)
        floats(totals, n_rows)[i] = logarithm_of_sum(x)
        largest(x, floats(values + 4 * i * count, count), wholes(ids + 8 * i * count, count))
    meet(barrier, size, 1)
