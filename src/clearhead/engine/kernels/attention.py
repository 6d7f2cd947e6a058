# pyright: basic, reportPrivateImportUsage=false
"""One query a row over a cache: scores, pattern, mix."""

from typing import no_type_check

import numpy as np
from numba import carray, float32, int64

from clearhead.engine.kernels.machine import pointer
from clearhead.engine.kernels.rows import exponential, flags, floats, kernel, summing


@summing
@no_type_check
def _score(query, key, width, scale, out):
    for k in range(len(out)):
        total = float32(0.0)
        for c in range(width):
            total += query[c] * key[k * width + c]
        out[k] = total * scale


@kernel
@no_type_check
def _soften(score, pattern, mask):
    """The pattern of one row of scores; closed cells are 0, and so is a closed row."""
    n = len(score)
    most = float32(-np.inf)
    if mask:
        is_open = flags(mask, n)
        for k in range(n):
            if is_open[k]:
                most = max(most, score[k])
    else:
        for k in range(n):
            most = max(most, score[k])
    if most == float32(-np.inf):
        pattern[:] = float32(0.0)
        return
    for k in range(n):
        pattern[k] = exponential(score[k] - most)
    if mask:
        is_open = flags(mask, n)
        for k in range(n):
            if not is_open[k]:
                pattern[k] = float32(0.0)
    _share_out(pattern)


@summing
@no_type_check
def _share_out(pattern):
    total = float32(0.0)
    for k in range(len(pattern)):
        total += pattern[k]
    factor = float32(1.0) / total
    for k in range(len(pattern)):
        pattern[k] *= factor


@kernel
@no_type_check
def _mix(pattern, value, out):
    width = len(out)
    out[:] = float32(0.0)
    for k in range(len(pattern)):
        p = pattern[k]
        for c in range(width):
            out[c] += p * value[k * width + c]


@kernel
@no_type_check
def attend(query, keys, values, width, score_scale, bias, mask, score, pattern, mixed):
    """One head of one row; `keys` and `values` are addresses of [key, width], `bias` and `mask` of [key] or 0."""
    n = len(score)
    _score(query, floats(keys, n * width), width, score_scale, score)
    if bias:
        b = floats(bias, n)
        for k in range(n):
            score[k] += b[k]
    _soften(score, pattern, mask)
    _mix(pattern, floats(values, n * width), mixed)


@kernel
@no_type_check
def turn(x, out, cosine, sine):
    """A query or key turned by its place; dimension i together with dimension i + C/2."""
    half = len(x) // 2
    cos, sin = floats(cosine, 2 * half), floats(sine, 2 * half)
    for c in range(half):
        first, second = x[c], x[c + half]
        out[c] = first * cos[c] - second * sin[c]
        out[c + half] = second * cos[c + half] + first * sin[c + half]


@kernel
@no_type_check
def number_at(address, place):
    """A whole number of a table at an address."""
    return carray(pointer(address, int64), (place + 1,))[place]
