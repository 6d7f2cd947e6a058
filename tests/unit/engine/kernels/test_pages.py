"""Weights in large pages: the same numbers in another place."""

import gc
import mmap

import torch
from torch import nn

from clearhead.engine.kernels import pages
from clearhead.engine.kernels.pages import large, settle, spread

LARGE = (512, 768)


def test_memory_is_zeros_that_begin_with_a_line() -> None:
    """Whatever the size, and beside what lies there already."""
    spread(*LARGE, dtype=torch.float32).fill_(1)
    for shape in ((3, 5), LARGE, (30_000, 768)):
        found = spread(*shape, dtype=torch.float32)
        assert found.shape == shape and found.data_ptr() % 64 == 0 and not found.any()


def test_a_parameter_moves_once_and_stays_what_it_is() -> None:
    """The same parameter, the same numbers; there it stays."""
    parameter = nn.Parameter(torch.randn(LARGE))
    before, start = parameter.detach().clone(), parameter.data_ptr()
    same = parameter
    settle(parameter)
    moved = parameter.data_ptr()
    settle(parameter)
    assert same is parameter and parameter.data_ptr() == moved and parameter.requires_grad
    assert parameter.equal(before)
    assert (moved != start) == hasattr(mmap, "MADV_HUGEPAGE")


def test_a_small_parameter_stays() -> None:
    """What fits near the processor anyway is left alone."""
    parameter = nn.Parameter(torch.randn(8, 8))
    start = parameter.data_ptr()
    settle(parameter)
    assert parameter.data_ptr() == start


def test_memory_is_given_back() -> None:
    """When the last tensor of a piece is gone, so is the piece."""
    held = [spread(8192, 4096, dtype=torch.float32) for _ in range(3)]
    first = held[0].data_ptr()
    is_large = pages._shelf.holds(first)  # pyright: ignore[reportPrivateUsage]
    held.clear()
    gc.collect()
    assert not pages._shelf.holds(first)  # pyright: ignore[reportPrivateUsage]
    assert is_large == hasattr(mmap, "MADV_HUGEPAGE")


def test_memory_of_its_own_is_not_where_weights_go() -> None:
    """Zeros that begin with a line, beside others of the same size, and off the shelf that weights share."""
    others = [large(*LARGE, dtype=torch.float32).fill_(1) for _ in range(3)]
    for shape in ((3, 5), LARGE):
        found = large(*shape, dtype=torch.float32)
        assert found.shape == shape and found.data_ptr() % 64 == 0 and not found.any()
        assert not pages._shelf.holds(found.data_ptr())  # pyright: ignore[reportPrivateUsage]
        found.fill_(2)
    assert all(bool((other == 1).all()) for other in others)
