"""Rotary and relative scores depend on the distance between two places, not on the places."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import PositionConfig, PositionKind, RotaryScaling, RotaryScalingKind
from clearhead.nn import RelativePosition, RotaryPosition

SCALINGS = [
    None,
    RotaryScaling(kind=RotaryScalingKind.LINEAR, factor=3.0),
    RotaryScaling(kind=RotaryScalingKind.LLAMA3, factor=4.0, original_length=16),
    RotaryScaling(kind=RotaryScalingKind.YARN, factor=4.0, original_length=16),
    # Within the length that was trained: beyond it the frequencies follow the text.
    RotaryScaling(kind=RotaryScalingKind.DYNAMIC, factor=4.0, original_length=4096),
]


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda scaling: "plain" if scaling is None else scaling.kind)
@given(
    first=st.integers(0, 200),
    second=st.integers(0, 200),
    shift=st.integers(0, 200),
    head_width=st.sampled_from([4, 6, 8]),
    seed=st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_a_rotary_score_depends_on_the_distance_alone(
    scaling: RotaryScaling | None, first: int, second: int, shift: int, head_width: int, seed: int
) -> None:
    config = PositionConfig(kind=PositionKind.ROTARY, scaling=scaling)
    rotary = RotaryPosition(config=config, head_width=head_width)
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, 1, 1, 1, head_width, generator=generator)

    def score(query_place: int, key_place: int) -> float:
        turned = [
            rotary(torch.tensor([[place]]), dtype=torch.float32).turn(vector)
            for place, vector in ((query_place, query), (key_place, key))
        ]
        return (turned[0] * turned[1]).sum().item()

    # Angles are computed in single precision: places near 400 are exact to about 3e-5.
    assert score(first + shift, second + shift) == pytest.approx(score(first, second), abs=2e-3)


@given(seed=st.integers(0, 99), distance=st.integers(1, 50))
@settings(max_examples=25, deadline=None)
def test_a_rotary_score_does_depend_on_the_distance(seed: int, distance: int) -> None:
    rotary = RotaryPosition(config=PositionConfig(kind=PositionKind.ROTARY), head_width=4)
    vector = torch.randn(1, 1, 1, 4, generator=torch.Generator().manual_seed(seed))
    turned = rotary(torch.tensor([[distance]]), dtype=torch.float32).turn(vector)
    # A vector is nearest to itself unturned.
    assert (turned * vector).sum() < (vector * vector).sum()


@given(
    n_keys=st.integers(2, 40),
    n_buckets=st.integers(4, 12),
    beyond=st.integers(1, 30),
    causal=st.booleans(),
    data=st.data(),
)
@settings(max_examples=50, deadline=None)
def test_a_relative_bias_depends_on_head_and_distance_alone(
    n_keys: int, n_buckets: int, beyond: int, causal: bool, data: st.DataObject
) -> None:
    n_queries = data.draw(st.integers(1, n_keys))
    position = RelativePosition(n_heads=2, n_buckets=n_buckets, max_distance=n_buckets // 2 + beyond, causal=causal)
    with torch.no_grad():
        position.weight.copy_(torch.arange(2.0 * n_buckets).view(n_buckets, 2))
        bias = position(n_queries=n_queries, n_keys=n_keys)[0]
    for offset in range(-n_queries + 1, n_keys):
        diagonal = bias.diagonal(offset, dim1=1, dim2=2)
        assert diagonal.eq(diagonal[:, :1]).all()
    # Heads differ, and a query's neighbour before it is not the query itself.
    assert (bias[1] - bias[0]).eq(1).all()
    own = n_keys - 1
    assert not bias[:, -1, own].equal(bias[:, -1, own - 1])
