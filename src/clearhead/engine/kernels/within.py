# pyright: basic, reportPrivateImportUsage=false
"""Every position of a text over all of it: scores and mixed values as products of small matrices.

A panel of queries stands where outputs stand in a product, so that every lane is a query, and keys are its rows; a
head's values are laid out as weights are. What a row comes to depends on its own text alone.
"""

from typing import no_type_check

import numpy as np

from clearhead.engine.kernels.columns import soften_down, turn_over
from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.panels import mix_panels, panels
from clearhead.engine.kernels.rows import floats, kernel

_QUERIES = 2 * PANEL
"""Rows whose scores exist at one time."""


@kernel
@no_type_check
def rooms(longest, width):
    """Memory of one thread for texts of so many positions: queries, values, scores, and zeros for a bias."""
    query, value = np.empty(_QUERIES * width, dtype=np.float32), np.empty(longest * width, dtype=np.float32)
    return (
        query,
        value,
        np.empty(longest * _QUERIES, dtype=np.float32),
        np.zeros(max(_QUERIES, width), dtype=np.float32),
    )


@kernel
@no_type_check
def lay(values, step, width, n, value):
    """Lays the values of a head out as [panel of width, key, width]."""
    for k in range(n):
        source = floats(values + k * step, width)
        for first in range(0, width, PANEL):
            begin = first * n + k * PANEL
            for c in range(PANEL):
                value[begin + c] = source[first + c]


@kernel
@no_type_check
def attend_within(queries, keys, step, width, score_scale, n, room, mixed, mixed_step, kept, kept_step):
    """One head of all rows of a text, whose values lie in its room; `queries`, `keys` and `mixed` are addresses.

    Patterns are left at `kept`, unless that is 0.
    """
    query, value, score, zeros = room
    nothing, scores, turned = zeros.ctypes.data, score.ctypes.data, query.ctypes.data
    for first in range(0, n, _QUERIES):
        n_rows = min(_QUERIES, n - first)
        n_panels = (n_rows + PANEL - 1) // PANEL
        line = 4 * PANEL * n_panels
        for panel in range(n_panels):
            begin = panel * PANEL
            rows, n_own = queries + (first + begin) * step, min(PANEL, n_rows - begin)
            turn_over(rows, step, n_own, width, score_scale, turned + 4 * begin * width)
        panels(turned, nothing, width, 0, n_panels, keys, step, n, scores, line)
        for panel in range(n_panels):
            soften_down(scores + 4 * panel * PANEL, n, line)
        if kept:
            for i in range(n_rows):
                own = floats(kept + (first + i) * kept_step, n)
                for k in range(n):
                    own[k] = score[k * PANEL * n_panels + i]
        out = mixed + first * mixed_step
        mix_panels(value.ctypes.data, nothing, n, width // PANEL, scores, line, n_rows, out, mixed_step)
