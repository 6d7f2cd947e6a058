"""Curves by a kernel: what torch computes, and the same for a number wherever it stands."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional

from clearhead.engine.kernels import curves
from clearhead.engine.kernels.fields import CHUNK

CURVES: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "tanh": torch.tanh,
}


def compiled(name: str) -> Callable[[int, int, int], None]:
    curve = getattr(curves, name)

    def run(source: int, target: int, n: int) -> None:
        curve(source, target, n)

    return njit("void(int64, int64, int64)")(run)


@njit("float32(int64, int64, int64, float32)")
def exponentials(source, target, n, most):
    return curves.exponentials(source, target, n, most)


@njit("float32(int64, int64, float32)")
def sum_of_exponentials(source, n, most):
    return curves.sum_of_exponentials(source, n, most)


@njit("float32(int64)")
def peak(source):
    return curves.peak(source)


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_those_of_torch_and_stay_within_their_numbers(name: str) -> None:
    run = compiled(name)
    for n in (1, 7, 8, 9, 64, 77):
        x = torch.linspace(-12, 12, n).roll(n // 2)
        out = np.full(n + 8, 5.0, dtype=np.float32)
        run(x.data_ptr(), out.ctypes.data, n)
        wanted = CURVES[name](x.double()).numpy()
        assert np.abs(out[:n] - wanted).max() < 2e-6
        assert (out[n:] == 5.0).all()


def test_gelu_is_right_to_two_parts_in_ten_million_of_one_or_of_itself() -> None:
    run = compiled("gelu")
    x = torch.cat([torch.linspace(-15, 15, 300_001), torch.tensor([-1e30, -1e5, 1e5, 1e30])])
    out = np.empty(len(x), dtype=np.float32)
    run(x.data_ptr(), out.ctypes.data, len(x))
    wanted = functional.gelu(x.double()).numpy()
    assert (np.abs(out - wanted) <= 2e-7 * np.maximum(1, np.abs(wanted))).all()


@pytest.mark.parametrize("name", CURVES)
def test_a_number_has_the_same_image_wherever_it_stands(name: str) -> None:
    run = compiled(name)
    x = np.full(23, 0.731, dtype=np.float32)
    run(x.ctypes.data, x.ctypes.data, len(x))
    assert len(set(x.tolist())) == 1
    x = np.array([np.nan, np.inf, 1.0], dtype=np.float32)
    run(x.ctypes.data, x.ctypes.data, len(x))
    assert np.isnan(x[0]) and not np.isnan(x[1:]).any()


@pytest.mark.parametrize("n", [1, 5, 8, 21, 64, 9003])
@pytest.mark.parametrize("size", [0.1, 9.0, 60.0])
def test_the_sum_of_exponentials_alone(n: int, size: float) -> None:
    x = np.random.default_rng(n).normal(size=n).astype(np.float32) * np.float32(size) + np.float32(3 * size)
    total = sum_of_exponentials(x.ctypes.data, n, x.max())
    assert total == pytest.approx(float(np.exp(x.astype(np.float64) - x.max()).sum()), rel=2e-6)
    x[n // 2] = np.nan
    assert np.isnan(sum_of_exponentials(x.ctypes.data, n, np.float32(1.0)))


@pytest.mark.parametrize("n", [1, 5, 8, 21, 64])
def test_exponentials_and_their_sum(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n).astype(np.float32) * 9
    out = np.empty_like(x)
    most = x.max()
    total = exponentials(x.ctypes.data, out.ctypes.data, n, most)
    wanted = np.exp((x - most).astype(np.float64))
    assert np.allclose(out, wanted, rtol=5e-7, atol=1e-37)
    assert abs(total - wanted.sum()) < 1e-6 * wanted.sum()


def test_exponentials_of_the_far_ends() -> None:
    x = np.array([-1e30, -200.0, -87.0, 0.0, 88.0, np.nan], dtype=np.float32)
    out = np.empty_like(x)
    exponentials(x.ctypes.data, out.ctypes.data, len(x), np.float32(0.0))
    assert (out[:3] < 2e-38).all() and out[3] == 1.0
    assert np.isclose(out[4], np.exp(88.0), rtol=1e-5) and np.isnan(out[5])


def test_the_peak_of_a_chunk() -> None:
    x = np.random.default_rng(0).normal(size=CHUNK).astype(np.float32)
    for place in range(CHUNK):
        changed = x.copy()
        changed[place] = 10.0
        assert peak(changed.ctypes.data) == 10.0
        changed[place] = np.nan
        assert np.isnan(peak(changed.ctypes.data))
    closed = np.full(CHUNK, -np.inf, dtype=np.float32)
    assert peak(closed.ctypes.data) == -np.inf
