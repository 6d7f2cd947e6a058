"""Norms by a kernel: what torch computes, for rows of any length, and nothing beyond their ends."""

import numpy as np
import pytest
import torch
from numba import njit
from torch.nn import functional

from clearhead.engine.kernels import norms
from clearhead.engine.kernels.fields import LAYER, RMS

LENGTHS = [1, 7, 15, 16, 17, 63, 64, 65, 130, 384]


@njit("void(int64, int64, int64, int64, int64, int64, float32)")
def norm(source, target, n, weight, bias, kind, epsilon):
    norms.norm(source, target, n, weight, bias, kind, epsilon)


@njit("void(int64, int64, int64, int64)")
def add(left, right, target, n):
    norms.add(left, right, target, n)


def row(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(3, 2, size=n).astype(np.float32)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("kind", [LAYER, RMS])
def test_norms_are_those_of_torch(n: int, kind: int, biased: bool) -> None:
    x, weight, bias, out = row(n, 0), row(n, 1), row(n, 2), np.full(n + 20, 5.0, dtype=np.float32)
    norm(x.ctypes.data, out.ctypes.data, n, weight.ctypes.data, bias.ctypes.data if biased else 0, kind, 1e-5)
    wide, w, b = (torch.as_tensor(one, dtype=torch.float64) for one in (x, weight, bias))
    if kind == LAYER:
        wanted = functional.layer_norm(wide, (n,), w, b if biased else None, 1e-5)
    else:
        wanted = functional.rms_norm(wide, (n,), w, 1e-5) + (b if biased else 0)
    assert np.abs(out[:n] - wanted.numpy()).max() < 2e-5
    assert (out[n:] == 5.0).all()
    norm(x.ctypes.data, x.ctypes.data, n, weight.ctypes.data, bias.ctypes.data if biased else 0, kind, 1e-5)
    assert (x == out[:n]).all()


@pytest.mark.parametrize("n", LENGTHS)
def test_additions_are_exact(n: int) -> None:
    x, y, out = row(n, 0), row(n, 1), np.full(n + 20, 5.0, dtype=np.float32)
    add(x.ctypes.data, y.ctypes.data, out.ctypes.data, n)
    assert (out[:n] == x + y).all() and (out[n:] == 5.0).all()


def test_what_is_no_number_stays_none() -> None:
    x, weight = row(20, 0), row(20, 1)
    x[3] = np.nan
    norm(x.ctypes.data, x.ctypes.data, 20, weight.ctypes.data, 0, LAYER, 1e-5)
    assert np.isnan(x).all()
