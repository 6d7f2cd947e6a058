# pyright: basic, reportPrivateImportUsage=false
"""The likeliest of a vocabulary, without sorting it."""

import math
from typing import no_type_check

import numpy as np
from numba import float32

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.curves import peak, sum_of_exponentials
from clearhead.engine.kernels.rows import entry, floats, kernel, share, wholes
from clearhead.engine.kernels.step import meet

_CHUNK = at.CHUNK


@kernel
@no_type_check
def _peaks(logits, n, peaks):
    """The largest number of every chunk; gives whether all are numbers."""
    sound, whole = True, n // _CHUNK
    for chunk in range(whole):
        peaks[chunk] = peak(logits + 4 * _CHUNK * chunk)
        sound &= peaks[chunk] == peaks[chunk]
    x = floats(logits, n)
    if whole < len(peaks):
        peaks[whole] = float32(-np.inf)
    for i in range(_CHUNK * whole, n):
        sound &= x[i] == x[i]
        peaks[whole] = max(peaks[whole], x[i])
    return sound


@kernel
@no_type_check
def logarithm_of_sum(logits, n, peaks):
    """What is taken from n logits to make them log-probabilities; no number where one of them is none."""
    sound = _peaks(logits, n, peaks)
    most = peaks.max()
    if not sound or not abs(most) < float32(np.inf):
        return float32(np.nan)
    return most + float32(math.log(sum_of_exponentials(logits, n, most)))


@kernel
@no_type_check
def _put_in(best, where, number, index):
    """Takes a number that is larger than the last of some in falling order among them; of equals it comes last."""
    place = len(best) - 1
    while place > 0 and number > best[place - 1]:
        best[place], where[place] = best[place - 1], where[place - 1]
        place -= 1
    best[place], where[place] = number, index


@kernel
@no_type_check
def largest(x, peaks, best, where):
    """The largest numbers in falling order and where they stand; of equals the first.

    As many peaks are at least as large as the last of them: no other chunk is looked into.
    """
    count = len(best)
    best[:] = float32(-np.inf)
    for chunk in range(len(peaks)):
        if peaks[chunk] > best[count - 1]:
            _put_in(best, where, peaks[chunk], chunk)
    least = best[count - 1]
    best[:] = float32(-np.inf)
    where[:] = 0
    for chunk in range(len(peaks)):
        if peaks[chunk] < least or peaks[chunk] <= best[count - 1]:
            continue
        for i in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, len(x))):
            if x[i] > best[count - 1]:
                _put_in(best, where, x[i], i)


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
        floats(totals, n_rows)[i] = logarithm_of_sum(logits + i * stride, n, own)
        largest(x, own, floats(values + 4 * i * count, count), wholes(ids + 8 * i * count, count))
    meet(barrier, size, 1)
