"""Open rows of a pattern sum to 1, closed cells are 0, a closed row is all 0 on both paths."""

from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import ScorerKind
from clearhead.nn import AttentionMask, attend, make_scorer
from clearhead.nn.initialise import initialise
from clearhead.probe import Recorder, listen

KINDS = pytest.mark.parametrize("kind", ScorerKind)


@st.composite
def masks(draw: st.DrawFn, *, batch: int = 2) -> AttentionMask:
    """Any mask of up to five queries and keys: rows may be closed wholly."""
    n_keys = draw(st.integers(1, 5))
    n_queries = draw(st.integers(1, n_keys))
    cells = draw(st.none() | st.lists(st.booleans(), min_size=batch * n_keys, max_size=batch * n_keys))
    keys = None if cells is None else torch.tensor(cells).view(batch, n_keys)
    return AttentionMask(n_queries=n_queries, n_keys=n_keys, causal=draw(st.booleans()), keys=keys)


def opened(mask: AttentionMask) -> torch.Tensor:
    """Where a mask is open, spelt out cell by cell."""
    cells = torch.ones(2, 3, mask.n_queries, mask.n_keys, dtype=torch.bool)
    for query in range(mask.n_queries):
        for key in range(mask.n_keys):
            if mask.causal and key > query + mask.n_keys - mask.n_queries:
                cells[:, :, query, key] = False
            if mask.keys is not None:
                cells[:, :, query, key] &= mask.keys[:, None, key]
    return cells


def inputs(mask: AttentionMask, seed: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(2, 3, mask.n_queries, 4, generator=generator) * 3
    key, value = (torch.randn(2, 3, mask.n_keys, 4, generator=generator) * 3 for _ in range(2))
    return tuple(tensor.requires_grad_() for tensor in (query, key, value))


@KINDS
@given(mask=masks(), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_open_rows_sum_to_one_and_closed_cells_are_exactly_zero(
    kind: ScorerKind, mask: AttentionMask, seed: int
) -> None:
    scorer = make_scorer(kind, n_heads=3, head_width=4)
    initialise(scorer)
    recorder = Recorder("pattern", "mixed")
    with listen(recorder):
        attend(*inputs(mask, seed), scorer=scorer, mask=mask)
    pattern, cells = recorder["pattern"], opened(mask)
    assert pattern[~cells].eq(0).all()
    assert pattern.ge(0).all()
    torch.testing.assert_close(pattern.sum(-1), cells.any(-1).float())
    assert recorder["mixed"][~cells.any(-1)].eq(0).all()


@pytest.mark.parametrize("explicit", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("biased", [False, True], ids=["plain", "biased"])
@given(mask=masks(), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_a_closed_row_mixes_nothing_and_every_gradient_is_finite(
    explicit: bool, biased: bool, mask: AttentionMask, seed: int
) -> None:
    scorer = make_scorer(ScorerKind.SCALED_DOT, n_heads=3, head_width=4)
    leaves = inputs(mask, seed)
    bias = torch.randn(1, 3, mask.n_queries, mask.n_keys).requires_grad_() if biased else None
    with listen(Recorder("pattern")) if explicit else nullcontext():
        mixed = attend(*leaves, scorer=scorer, mask=mask, bias_1HQK=bias)
    cells = opened(mask)
    closed_rows = ~cells.any(-1)
    assert mixed[closed_rows].eq(0).all()
    assert torch.isfinite(mixed).all()
    mixed.square().sum().backward()
    for leaf in (*leaves, *([bias] if bias is not None else [])):
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()
    assert leaves[0].grad is not None
    assert leaves[0].grad[closed_rows].eq(0).all()
    assert leaves[2].grad is not None
    assert leaves[2].grad[~cells.any(-2)].eq(0).all()
