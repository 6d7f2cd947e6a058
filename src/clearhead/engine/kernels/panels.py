# pyright: basic
"""Rows times panels of outputs: floats where there are many rows, and weights are laid out for them.

Weights lie as [panel of outputs, input, output], so that a tile reads one line after another, and every number of a row
meets a register of outputs at once.
"""

from typing import no_type_check

from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.instructions import LANES
from clearhead.engine.kernels.machine import make_panel_tile
from clearhead.engine.kernels.rows import kernel

_NEAR = 2**20
"""Bytes of rows that meet one panel after another: as much as a core has at hand, so that panels come seldom."""
SIDE, _TALL = 2 * LANES // PANEL, 12 if LANES == 16 else 6
"""Panels, and rows, that meet in one tile; wide registers are twice as many, too."""


@no_type_check
def _make_strip(n_panels, **kind):
    """Some rows times so many panels of outputs, side by side; of the same kind as its tiles."""
    tall, six, three, two, one = (make_panel_tile(n, n_panels, **kind) for n in (_TALL, 6, 3, 2, 1))
    standing = kind.get("standing", False)

    @kernel
    @no_type_check
    def strip(w, n_inputs, row, row_stride, bias, y, out_stride, i, m_end):
        apart = 4 if standing else row_stride
        while i + _TALL <= m_end:
            tall(w, n_inputs, row + i * apart, row_stride, bias, y + i * out_stride, out_stride)
            i += _TALL
        if i + 6 <= m_end:
            six(w, n_inputs, row + i * apart, row_stride, bias, y + i * out_stride, out_stride)
            i += 6
        if i + 3 <= m_end:
            three(w, n_inputs, row + i * apart, row_stride, bias, y + i * out_stride, out_stride)
            i += 3
        if i + 2 <= m_end:
            two(w, n_inputs, row + i * apart, row_stride, bias, y + i * out_stride, out_stride)
            i += 2
        if i < m_end:
            one(w, n_inputs, row + i * apart, row_stride, bias, y + i * out_stride, out_stride)

    return strip


_strip_1, _strip_n = _make_strip(1), _make_strip(SIDE)
_mix_1, _mix_n = _make_strip(1, standing=True), _make_strip(SIDE, standing=True)
_add_1, _add_n = _make_strip(1, standing=True, onto=True), _make_strip(SIDE, standing=True, onto=True)


@kernel
@no_type_check
def panels(weight, bias, n_inputs, first, end, row, row_stride, n_rows, out, out_stride):
    """All rows times some panels of outputs, a block of rows after another."""
    at_once = max(_TALL, _NEAR // (4 * n_inputs) // _TALL * _TALL)
    for m in range(0, n_rows, at_once):
        m_end, panel = min(m + at_once, n_rows), first
        while panel < end:
            w, lane = weight + 4 * PANEL * n_inputs * panel, 4 * PANEL * panel
            if panel + SIDE <= end:
                _strip_n(w, n_inputs, row, row_stride, bias + lane, out + lane, out_stride, m, m_end)
                panel += SIDE
            else:
                _strip_1(w, n_inputs, row, row_stride, bias + lane, out + lane, out_stride, m, m_end)
                panel += 1


@kernel
@no_type_check
def mix_panels(weight, bias, n_inputs, n_panels, column, line, n_rows, out, out_stride):
    """The same for rows that lie as columns, from one input to the next in `line` bytes."""
    panel = 0
    while panel < n_panels:
        w, lane = weight + 4 * PANEL * n_inputs * panel, 4 * PANEL * panel
        if panel + SIDE <= n_panels:
            _mix_n(w, n_inputs, column, line, bias + lane, out + lane, out_stride, 0, n_rows)
            panel += SIDE
        else:
            _mix_1(w, n_inputs, column, line, bias + lane, out + lane, out_stride, 0, n_rows)
            panel += 1


@kernel
@no_type_check
def add_panels(weight, n_inputs, n_panels, column, line, n_rows, out, out_stride):
    """The same, added to what is there instead of a bias."""
    panel = 0
    while panel < n_panels:
        w, lane = weight + 4 * PANEL * n_inputs * panel, 4 * PANEL * panel
        if panel + SIDE <= n_panels:
            _add_n(w, n_inputs, column, line, 0, out + lane, out_stride, 0, n_rows)
            panel += SIDE
        else:
            _add_1(w, n_inputs, column, line, 0, out + lane, out_stride, 0, n_rows)
            panel += 1
