"""The likeliest ids by a kernel: those that torch finds."""

import numpy as np
import pytest
import torch

from clearhead.decoding.leaders import leading
from clearhead.engine.kernels import ready
from clearhead.engine.kernels.rows_of import lead


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


@pytest.mark.parametrize("size", [1, 7, 64, 65, 512, 513, 1000, 1600])
@pytest.mark.parametrize("count", [1, 8])
def test_they_are_those_that_torch_finds(size: int, count: int) -> None:
    logits = torch.randn(5, size, generator=torch.Generator().manual_seed(size)) * 3
    found, wanted = lead(logits, count), leading(logits, count)
    assert np.array_equal(found.ids, wanted.ids)
    assert np.allclose(found.log_p, wanted.log_p, atol=1e-5)


def test_closed_ids_never_lead_and_what_is_no_number_is_none() -> None:
    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    logits[0, 4:] = -torch.inf
    logits[1, 7] = torch.nan
    found, wanted = lead(logits, 8), leading(logits, 8)
    assert np.array_equal(found.ids[0, :4], wanted.ids[0, :4])
    assert found.log_p[0, 4:].tolist() == [-torch.inf] * 4
    assert np.isnan(found.log_p[1]).all()
    assert np.array_equal(found.ids[2], wanted.ids[2])


def test_chunks_that_are_closed_and_strange_numbers_at_the_end_of_one() -> None:
    logits = torch.randn(4, 1600, generator=torch.Generator().manual_seed(3))
    logits[0, 512:1024] = -torch.inf
    logits[1, :1590] = -torch.inf
    logits[2, 1599] = torch.nan
    logits[3, 1023] = torch.inf
    found, wanted = lead(logits, 5), leading(logits, 5)
    assert np.array_equal(found.ids[:2], wanted.ids[:2])
    assert np.allclose(found.log_p[:2], wanted.log_p[:2], atol=1e-5)
    assert np.isnan(found.log_p[2:]).all()


def test_rows_may_be_views() -> None:
    logits = torch.randn(70, 6, generator=torch.Generator().manual_seed(1))
    assert np.array_equal(lead(logits.t(), 5).ids, leading(logits.t(), 5).ids)
    assert np.array_equal(lead(logits[:, 1:5], 2).ids, leading(logits[:, 1:5], 2).ids)
