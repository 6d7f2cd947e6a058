# pyright: basic, reportPrivateImportUsage=false
"""The likeliest of a vocabulary, without sorting it."""

import math
from typing import no_type_check

import numpy as np
from numba import float32, int32

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.machine import of_bits
from clearhead.engine.kernels.rows import INFINITE, SIZE, entry, exponential, floats, kernel, share, summing, wholes
from clearhead.engine.kernels.step import meet

_CHUNK = at.CHUNK
_LOWEST = -(2**31)


@kernel
@no_type_check
def _order(bits):
    """The bits of a float as a whole number of the same order; what is no number is above or below all others."""
    return bits ^ ((bits >> int32(31)) & int32(SIZE))


@kernel
@no_type_check
def _peaks(x, peaks):
    """The largest number of every chunk; gives whether all are numbers."""
    n, bits = len(x), x.view(np.int32)
    strange = 0
    for chunk in range(len(peaks)):
        most = int32(_LOWEST)
        for i in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, n)):
            strange |= int32((bits[i] & int32(SIZE)) > int32(INFINITE))
            most = max(most, _order(bits[i]))
        peaks[chunk] = of_bits(_order(most))
    return strange == 0


@summing
@no_type_check
def _sum_of_exponentials(x, most):
    total = float32(0.0)
    for i in range(len(x)):
        total += exponential(x[i] - most)
    return total


@kernel
@no_type_check
def logarithm_of_sum(x, peaks):
    """What is taken from logits to make them log-probabilities; no number where one of them is none."""
    sound = _peaks(x, peaks)
    most = peaks.max()
    if not sound or not abs(most) < float32(np.inf):
        return float32(np.nan)
    return most + float32(math.log(_sum_of_exponentials(x, most)))


@kernel
@no_type_check
def largest(x, peaks, best, where):
    """The largest numbers in falling order and where they stand; of equals the first."""
    count, n = len(best), len(x)
    best[:] = float32(-np.inf)
    where[:] = 0
    for chunk in range(len(peaks)):
        if peaks[chunk] <= best[count - 1]:
            continue
        for i in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, n)):
            if x[i] > best[count - 1]:
                place = count - 1
                while place > 0 and x[i] > best[place - 1]:
                    best[place], where[place] = best[place - 1], where[place - 1]
                    place -= 1
                best[place], where[place] = x[i], i


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
@no_type_check
def lead(place, size, barrier, logits, stride, n_rows, n, count, values, ids, totals, peaks):
    """The `count` largest of every row of n logits, and the logarithm of the sum of their exponentials.

    `peaks` is memory for one number a chunk, for each thread.
    """
    first, end = share(n_rows, place, size)
    n_chunks = (n + _CHUNK - 1) // _CHUNK
    own = floats(peaks + 4 * place * n_chunks, n_chunks)
    for i in range(first, end):
        x = floats(logits + i * stride, n)
        floats(totals, n_rows)[i] = logarithm_of_sum(x, own)
        largest(x, own, floats(values + 4 * i * count, count), wholes(ids + 8 * i * count, count))
    meet(barrier, size, 1)
