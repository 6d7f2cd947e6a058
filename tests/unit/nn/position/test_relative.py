import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.nn import RelativePosition


def make(*, causal: bool, n_buckets: int = 32, max_distance: int = 128, n_heads: int = 2) -> RelativePosition:
    position = RelativePosition(n_heads=n_heads, n_buckets=n_buckets, max_distance=max_distance, causal=causal)
    with torch.no_grad():
        position.weight.copy_(torch.randn(n_buckets, n_heads, generator=torch.Generator().manual_seed(0)))
    return position


@given(n_buckets=st.integers(4, 40), beyond=st.integers(1, 200), causal=st.booleans())
@settings(max_examples=50, deadline=None)
def test_buckets_are_those_of_t5(n_buckets: int, beyond: int, causal: bool) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention  # noqa: PLC0415

    max_distance = n_buckets // 2 + beyond
    distance = torch.arange(-300, 301).unsqueeze(0)
    theirs = T5Attention._relative_position_bucket(
        distance, bidirectional=not causal, num_buckets=n_buckets, max_distance=max_distance
    )
    ours = make(causal=causal, n_buckets=n_buckets, max_distance=max_distance).bucket(distance)
    assert ours.equal(theirs)


@pytest.mark.parametrize("causal", [False, True])
def test_the_bias_is_the_weight_of_the_bucket_of_the_distance_from_query_to_key(causal: bool) -> None:
    position = make(causal=causal)
    bias = position(n_queries=5, n_keys=5)
    for query in range(5):
        for key in range(5):
            bucket = position.bucket(torch.tensor([[key - query]])).item()
            assert bias[0, :, query, key].equal(position.weight[bucket])


@pytest.mark.parametrize("causal", [False, True])
def test_the_queries_are_the_last_of_the_keys(causal: bool) -> None:
    position = make(causal=causal)
    assert position(n_queries=2, n_keys=9).equal(position(n_queries=9, n_keys=9)[:, :, 7:])


def test_a_causal_bias_does_not_tell_the_future_apart_and_another_does() -> None:
    distance = torch.tensor([[1, 5]])
    assert make(causal=True).bucket(distance).tolist() == [[0, 0]]
    assert len(set(make(causal=False).bucket(torch.tensor([[-5, -1, 0, 1, 5]]))[0].tolist())) == 5
