import torch

from clearhead.nn.attention.heads import merge_heads, share_heads, split_heads


def test_a_head_is_a_run_of_neighbouring_columns() -> None:
    x = torch.arange(12.0).view(1, 2, 6)
    heads = split_heads(x, 3)
    assert heads.shape == (1, 3, 2, 2)
    assert heads[0, 1].tolist() == [[2, 3], [8, 9]]


def test_merging_lays_heads_side_by_side() -> None:
    heads = torch.tensor([[[[1.0, 2.0]], [[3.0, 4.0]]]])
    assert merge_heads(heads).tolist() == [[[1, 2, 3, 4]]]


def test_a_group_of_query_heads_shares_its_neighbouring_key_head() -> None:
    x = torch.arange(2.0).view(1, 2, 1, 1)
    assert share_heads(x, 6).flatten().tolist() == [0, 0, 0, 1, 1, 1]
    assert share_heads(x, 2) is x
