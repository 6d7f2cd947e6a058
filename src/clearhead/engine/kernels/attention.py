# pyright: basic, reportPrivateImportUsage=false
"""One query a row over a cache: scores, pattern, mix."""

from typing import no_type_check

import numpy as np
from numba import carray, float32, int64

from clearhead.engine.kernels.curves import LEAST, exponentials, highest
from clearhead.engine.kernels.instructions import LANES
from clearhead.engine.kernels.machine import make_dots, make_mix, pointer
from clearhead.engine.kernels.rows import flags, floats, kernel, summing

_CLOSED = np.float32(LEAST)
"""A score whose share is nothing beside any other's."""

_dots_1, _dots_4, _mix_1, _mix_4 = make_dots(1), make_dots(4), make_mix(1), make_mix(4)


@kernel
@no_type_check
def _place(address, lines, apart, k, step):
    """Where a key or value lies: in the row of memory that the table says, or in one piece with the others."""
    line = carray(pointer(lines, int64), (k + 1,))[k] if lines else 0
    return address + line * apart + k * step


@kernel
@no_type_check
def _score(query, keys, lines, apart, step, width, score, n):
    """The products of a query with all keys; `query` and `score` are addresses."""
    whole = n // 4 * 4
    if width % LANES:
        whole = 0
    for k in range(0, whole, 4):
        a, b = _place(keys, lines, apart, k, step), _place(keys, lines, apart, k + 1, step)
        c, d = _place(keys, lines, apart, k + 2, step), _place(keys, lines, apart, k + 3, step)
        _dots_4(query, width // LANES, score + 4 * k, a, b, c, d)
    for k in range(whole, n):
        key = _place(keys, lines, apart, k, step)
        if width % LANES:
            floats(score, n)[k] = _dot(floats(query, width), floats(key, width))
        else:
            _dots_1(query, width // LANES, score + 4 * k, key, key, key, key)


@kernel
@no_type_check
def _mix(pattern, values, lines, apart, step, width, mixed, n):
    """The sum of all values, each times its share; `pattern` and `mixed` are addresses."""
    out = floats(mixed, width)
    out[:] = float32(0.0)
    whole = n // 4 * 4
    if width % LANES:
        whole = 0
    for k in range(0, whole, 4):
        a, b = _place(values, lines, apart, k, step), _place(values, lines, apart, k + 1, step)
        c, d = _place(values, lines, apart, k + 2, step), _place(values, lines, apart, k + 3, step)
        _mix_4(pattern + 4 * k, width // LANES, mixed, a, b, c, d)
    for k in range(whole, n):
        value = _place(values, lines, apart, k, step)
        if width % LANES:
            v, p = floats(value, width), floats(pattern, n)[k]
            for c in range(width):
                out[c] += p * v[c]
        else:
            _mix_1(pattern + 4 * k, width // LANES, mixed, value, value, value, value)


@summing
@no_type_check
def _dot(query, key):
    total = float32(0.0)
    for c in range(len(query)):
        total += query[c] * key[c]
    return total


@kernel
@no_type_check
def soften(score, pattern, mask, n):
    """The pattern of n scores; closed cells are 0, and so is a closed row. Everything is an address."""
    scores, shares = floats(score, n), floats(pattern, n)
    if mask:
        is_open = flags(mask, n)
        for k in range(n):
            shares[k] = scores[k] if is_open[k] else _CLOSED
    most = highest(pattern if mask else score, n)
    if most <= _CLOSED:
        shares[:] = float32(0.0)
        return
    factor = float32(1.0) / exponentials(pattern if mask else score, pattern, n, most)
    for k in range(n):
        shares[k] *= factor
    if mask:
        is_open = flags(mask, n)
        for k in range(n):
            shares[k] = shares[k] if is_open[k] else float32(0.0)


@kernel
@no_type_check
def attend(query, keys, values, lines, apart, step, width, score_scale, bias, mask, score, pattern, mixed, n):
    """One head of one row, over n keys; everything is an address.

    `keys` and `values` lie as [key, width], from one key to the next in `step` bytes, `bias` and `mask` as [key] or are
    0; `lines` says in which row of memory each key lies, rows being `apart` bytes, or is 0 where they lie in one piece.
    """
    _score(query, keys, lines, apart, step, width, score, n)
    scores = floats(score, n)
    for k in range(n):
        scores[k] *= score_scale
    if bias:
        b = floats(bias, n)
        for k in range(n):
            scores[k] += b[k]
    soften(score, pattern, mask, n)
    _mix(pattern, values, lines, apart, step, width, mixed, n)


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
