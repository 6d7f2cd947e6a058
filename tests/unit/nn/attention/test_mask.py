import pytest
import torch

from clearhead.nn import AttentionMask


def cells(mask: AttentionMask, row: int = 0) -> list[str]:
    """One string a query, x where it may look."""
    assert mask.open is not None
    return ["".join("x" if cell else "." for cell in query) for query in mask.open[row, 0].tolist()]


def test_without_conditions_everything_is_open() -> None:
    assert AttentionMask(n_queries=2, n_keys=3).open is None


def test_causal_opens_the_past_and_the_present() -> None:
    assert cells(AttentionMask(n_queries=4, n_keys=4, causal=True)) == ["x...", "xx..", "xxx.", "xxxx"]


def test_with_more_keys_than_queries_the_queries_are_the_last() -> None:
    assert cells(AttentionMask(n_queries=2, n_keys=5, causal=True)) == ["xxxx.", "xxxxx"]


def test_a_single_query_at_the_end_sees_all_its_past() -> None:
    assert AttentionMask(n_queries=1, n_keys=5, causal=True).open is None


def test_padding_closes_its_columns_for_every_query() -> None:
    keys = torch.tensor([[True, True, False], [False, True, True]])
    mask = AttentionMask(n_queries=2, n_keys=3, keys=keys)
    assert mask.open is not None
    assert mask.open.shape == (2, 1, 1, 3)
    assert cells(mask, 0) == ["xx."]
    assert cells(mask, 1) == [".xx"]


def test_causal_and_padding_close_together() -> None:
    keys = torch.tensor([[True, True, True, False], [False, True, True, True]])
    mask = AttentionMask(n_queries=3, n_keys=4, causal=True, keys=keys)
    assert cells(mask, 0) == ["xx..", "xxx.", "xxx."]
    assert cells(mask, 1) == [".x..", ".xx.", ".xxx"]


def test_a_single_query_still_does_not_see_padding() -> None:
    mask = AttentionMask(n_queries=1, n_keys=3, causal=True, keys=torch.tensor([[False, True, True]]))
    assert cells(mask) == [".xx"]


@pytest.mark.parametrize(
    ("mask", "plain"),
    [
        (AttentionMask(n_queries=3, n_keys=3, causal=True), True),
        (AttentionMask(n_queries=3, n_keys=4, causal=True), False),
        (AttentionMask(n_queries=3, n_keys=3), False),
        (AttentionMask(n_queries=3, n_keys=3, causal=True, keys=torch.ones(1, 3, dtype=torch.bool)), False),
    ],
)
def test_only_the_lower_triangle_of_a_square_is_plain_causal(mask: AttentionMask, plain: bool) -> None:
    assert mask.is_plain_causal == plain


def test_the_pattern_is_the_softmax_of_the_open_cells() -> None:
    score = torch.tensor([[[[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]]])
    mask = AttentionMask(n_queries=2, n_keys=3, keys=torch.tensor([[True, True, False]]))
    pattern = mask.softmax(score)
    assert pattern[0, 0, 0, :2].equal(score[0, 0, 0, :2].softmax(-1))
    assert pattern[0, 0, :, 2].tolist() == [0, 0]
    assert pattern[0, 0, 1].tolist() == [0.5, 0.5, 0]


def test_a_closed_row_is_all_zero_and_its_neighbours_are_not() -> None:
    keys = torch.tensor([[False, False], [True, True]])
    score = torch.randn(2, 1, 2, 2, requires_grad=True)
    pattern = AttentionMask(n_queries=2, n_keys=2, keys=keys).softmax(score)
    assert pattern[0].eq(0).all()
    torch.testing.assert_close(pattern[1].sum(-1), torch.ones(1, 2))
    pattern.square().sum().backward()
    assert score.grad is not None
    assert torch.isfinite(score.grad).all()
    assert score.grad[0].eq(0).all()


def test_a_bias_is_closed_where_the_mask_is() -> None:
    bias = torch.randn(1, 2, 2, 3)
    mask = AttentionMask(
        n_queries=2, n_keys=3, causal=True, keys=torch.tensor([[False, True, True], [True, True, True]])
    )
    biased = mask.with_bias(bias)
    assert mask.open is not None
    opened = mask.open.expand(2, 2, 2, 3)
    assert biased[opened].equal(bias.expand(2, 2, 2, 3)[opened])
    assert biased[~opened].eq(-torch.inf).all()


def test_a_bias_is_combined_once_and_anew_for_another_bias() -> None:
    mask = AttentionMask(n_queries=2, n_keys=2, causal=True)
    one, other = torch.zeros(1, 1, 2, 2), torch.ones(1, 1, 2, 2)
    assert mask.with_bias(one) is mask.with_bias(one)
    assert mask.with_bias(other)[0, 0, 1, 0] == 1


def test_a_bias_without_a_mask_is_left_alone() -> None:
    bias = torch.randn(1, 1, 2, 2)
    assert AttentionMask(n_queries=2, n_keys=2).with_bias(bias).equal(bias)


def test_a_causal_mask_is_made_where_the_queries_are() -> None:
    bias = torch.zeros(1, 1, 2, 2, device="meta")
    mask = AttentionMask(n_queries=2, n_keys=2, causal=True, device=bias.device)
    assert mask.with_bias(bias).device == bias.device


def test_a_window_closes_what_is_too_far_back() -> None:
    assert cells(AttentionMask(n_queries=4, n_keys=4, causal=True, window=2)) == ["x...", "xx..", ".xx.", "..xx"]
    assert cells(AttentionMask(n_queries=2, n_keys=4, causal=True, window=3)) == ["xxx.", ".xxx"]


def test_a_single_query_sees_its_window_alone() -> None:
    assert cells(AttentionMask(n_queries=1, n_keys=4, causal=True, window=2)) == ["..xx"]


def test_a_window_that_holds_all_keys_closes_none() -> None:
    mask = AttentionMask(n_queries=3, n_keys=3, causal=True, window=3)
    assert mask.is_plain_causal
    assert not AttentionMask(n_queries=3, n_keys=3, causal=True, window=2).is_plain_causal


def test_a_window_and_padding_close_together() -> None:
    mask = AttentionMask(n_queries=3, n_keys=3, causal=True, window=2, keys=torch.tensor([[False, True, True]]))
    assert cells(mask) == ["...", ".x.", ".xx"]


def test_a_closed_cell_stays_closed_beside_the_lowest_scores() -> None:
    score = torch.tensor([[[[-1e9, -1e9, 0.0]]]])
    mask = AttentionMask(n_queries=1, n_keys=3, keys=torch.tensor([[True, True, False]]))
    assert mask.softmax(score)[0, 0, 0].tolist() == [0.5, 0.5, 0]
