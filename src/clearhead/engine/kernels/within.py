# pyright: basic, reportPrivateImportUsage=false
"""Every position of a text over all of it: scores and mixed values as products of small matrices.

A head's keys and values are laid out as weights are, in panels, so that the tiles of a product serve here too. What a
row comes to depends on its own text alone.
"""

from typing import no_type_check

import numpy as np
from numba import float32

from clearhead.engine.kernels.attention import soften
from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.multiply import panels
from clearhead.engine.kernels.rows import floats, kernel

_QUERIES = 48
"""Rows whose scores exist at one time."""


@kernel
@no_type_check
def rooms(longest, width):
    """Memory of one thread for texts of so many positions: keys, values, scores, and zeros in the place of a bias."""
    n_padded = (longest + PANEL - 1) // PANEL * PANEL
    key, value = np.empty(n_padded * width, dtype=np.float32), np.empty(longest * width, dtype=np.float32)
    return key, value, np.empty(_QUERIES * n_padded, dtype=np.float32), np.zeros(max(n_padded, width), dtype=np.float32)


@kernel
@no_type_check
def lay(keys, values, step, width, n, key, value):
    """Lays the keys of a head out as [panel of keys, width, key], its values as [panel of width, key, width]."""
    for first in range(0, n, PANEL):
        for k in range(first, first + PANEL):
            for c in range(width):
                place = first * width + c * PANEL + k - first
                key[place] = floats(keys + k * step, width)[c] if k < n else float32(0.0)
    for k in range(n):
        source = floats(values + k * step, width)
        for first in range(0, width, PANEL):
            begin = first * n + k * PANEL
            for c in range(PANEL):
                value[begin + c] = source[first + c]


@kernel
@no_type_check
def attend_within(query, step, width, score_scale, n, key, value, score, zeros, mixed, mixed_step, kept, kept_step):
    """One head of all rows of a text, whose keys and values are laid out; `query` and `mixed` are addresses.

    Patterns are left at `kept`, unless that is 0.
    """
    n_padded = (n + PANEL - 1) // PANEL * PANEL
    nothing, scores = zeros.ctypes.data, score.ctypes.data
    for first in range(0, n, _QUERIES):
        n_rows = min(_QUERIES, n - first)
        rows, line = query + first * step, 4 * n_padded
        panels(key.ctypes.data, nothing, width, 0, n_padded // PANEL, rows, step, n_rows, scores, line)
        for i in range(n_rows):
            own = floats(scores + i * line, n)
            for k in range(n):
                own[k] *= score_scale
            soften(scores + i * line, scores + i * line, 0, n)
            if kept:
                floats(kept + (first + i) * kept_step, n)[:] = own
        out = mixed + first * mixed_step
        panels(value.ctypes.data, nothing, n, 0, width // PANEL, scores, line, n_rows, out, mixed_step)
