"""Splitting into heads and merging them lose nothing and mix nothing."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.nn import merge_heads, split_heads
from clearhead.nn.attention.heads import share_heads

sizes = st.integers(1, 5)


@given(batch=sizes, length=sizes, n_heads=sizes, head_width=sizes)
@settings(max_examples=50, deadline=None)
def test_merging_undoes_splitting(batch: int, length: int, n_heads: int, head_width: int) -> None:
    x = torch.arange(float(batch * length * n_heads * head_width)).view(batch, length, n_heads * head_width)
    heads = split_heads(x, n_heads)
    assert heads.shape == (batch, n_heads, length, head_width)
    assert merge_heads(heads).equal(x)


@given(batch=sizes, length=sizes, n_heads=sizes, head_width=sizes)
@settings(max_examples=50, deadline=None)
def test_splitting_undoes_merging(batch: int, length: int, n_heads: int, head_width: int) -> None:
    heads = torch.arange(float(batch * length * n_heads * head_width)).view(batch, n_heads, length, head_width)
    assert split_heads(merge_heads(heads), n_heads).equal(heads)


@given(groups=sizes, per_group=sizes, length=sizes)
@settings(max_examples=30, deadline=None)
def test_every_query_head_gets_the_key_head_of_its_group(groups: int, per_group: int, length: int) -> None:
    x = torch.randn(2, groups, length, 3)
    shared = share_heads(x, groups * per_group)
    for head in range(groups * per_group):
        assert shared[:, head].equal(x[:, head // per_group])
