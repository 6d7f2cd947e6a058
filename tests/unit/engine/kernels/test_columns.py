"""Queries in lanes: rows turned over, and patterns made down columns."""

import numpy as np
import pytest
import torch
from numba import njit

from clearhead.engine.kernels.columns import soften_down, turn_over
from clearhead.engine.kernels.fields import PANEL

WIDTH = 2 * PANEL


@njit
def _turn(source: int, step: int, n: int, width: int, factor: float, target: int) -> None:
    turn_over(source, step, n, width, np.float32(factor), target)


@njit
def _soften(scores: int, n: int, step: int) -> None:
    soften_down(scores, n, step)


@pytest.mark.parametrize("n", [1, 7, PANEL])
def test_rows_become_columns_and_the_last_fills_the_panel(n: int) -> None:
    """Every number lands at its place, times the factor; nothing beyond the last row is read."""
    rows = torch.randn(n, 3 * WIDTH)
    found = torch.zeros(WIDTH, PANEL)
    _turn(rows.data_ptr(), 4 * rows.shape[1], n, WIDTH, 0.5, found.data_ptr())
    full = torch.cat([rows[:, :WIDTH], rows[-1:, :WIDTH].expand(PANEL - n, WIDTH)])
    assert found.equal(full.T * 0.5)


@pytest.mark.parametrize("n", [1, 15, 100])
def test_patterns_down_columns_are_softmax(n: int) -> None:
    """Of every query over all keys; what lies beside the panel stays."""
    scores = torch.randn(n, 2 * PANEL) * 20
    before, found = scores.clone(), scores
    _soften(found.data_ptr(), n, 4 * 2 * PANEL)
    torch.testing.assert_close(found[:, :PANEL], before[:, :PANEL].softmax(0), rtol=2e-6, atol=1e-7)
    assert found[:, PANEL:].equal(before[:, PANEL:])


def test_a_query_with_a_score_that_is_no_number_has_no_pattern() -> None:
    """Its neighbours in the same register have theirs."""
    scores = torch.randn(5, PANEL)
    scores[2, 3] = float("nan")
    expected = scores.softmax(0)
    _soften(scores.data_ptr(), 5, 4 * PANEL)
    assert scores[:, 3].isnan().all()
    torch.testing.assert_close(scores, expected, rtol=2e-6, atol=1e-7, equal_nan=True)
