import cmath
import math
from typing import Any

import pytest
import torch

from clearhead.config import PositionConfig, PositionKind, RotaryScaling, RotaryScalingKind
from clearhead.nn import RotaryPosition
from clearhead.nn.position.rotary import frequencies

LENGTH = 64
SCALINGS: dict[str, tuple[RotaryScaling, dict[str, Any]]] = {
    "linear": (RotaryScaling(kind=RotaryScalingKind.LINEAR, factor=4.0), {"rope_type": "linear", "factor": 4.0}),
    "llama3": (
        RotaryScaling(
            kind=RotaryScalingKind.LLAMA3,
            factor=8.0,
            original_length=LENGTH,
            low_frequency_factor=1.5,
            high_frequency_factor=5.0,
        ),
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.5,
            "high_freq_factor": 5.0,
            "original_max_position_embeddings": LENGTH,
        },
    ),
    "dynamic": (
        RotaryScaling(kind=RotaryScalingKind.DYNAMIC, factor=3.0, original_length=LENGTH),
        {"rope_type": "dynamic", "factor": 3.0},
    ),
    "yarn": (
        RotaryScaling(kind=RotaryScalingKind.YARN, factor=4.0, original_length=LENGTH, beta_fast=9.0, beta_slow=0.5),
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "beta_fast": 9.0,
            "beta_slow": 0.5,
            "original_max_position_embeddings": LENGTH,
        },
    ),
    "yarn with a gain": (
        RotaryScaling(kind=RotaryScalingKind.YARN, factor=4.0, original_length=LENGTH, attention_factor=1.7),
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "attention_factor": 1.7,
            "original_max_position_embeddings": LENGTH,
        },
    ),
}


def config(scaling: RotaryScaling | None = None, theta: float = 10_000.0) -> PositionConfig:
    return PositionConfig(kind=PositionKind.ROTARY, theta=theta, scaling=scaling)


def theirs(rope: dict[str, Any], *, theta: float, head_width: int, length: int) -> tuple[torch.Tensor, float]:
    from transformers import LlamaConfig  # noqa: PLC0415
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS  # noqa: PLC0415

    reference = LlamaConfig(
        hidden_size=2 * head_width,
        num_attention_heads=2,
        head_dim=head_width,
        max_position_embeddings=LENGTH if rope["rope_type"] == "dynamic" else 4 * LENGTH,
        rope_parameters={"rope_theta": theta, **rope},
    )
    return ROPE_INIT_FUNCTIONS[rope["rope_type"]](reference, device=torch.device("cpu"), seq_len=length)


@pytest.mark.parametrize("length", [10, 64, 65, 500])
@pytest.mark.parametrize(("theta", "head_width"), [(10_000.0, 8), (500_000.0, 32), (100.0, 16)])
@pytest.mark.parametrize("name", SCALINGS)
def test_scaled_frequencies_are_those_of_the_reference(name: str, theta: float, head_width: int, length: int) -> None:
    scaling, rope = SCALINGS[name]
    ours, our_gain = frequencies(config(scaling, theta), head_width=head_width, length=length)
    expected, gain = theirs(rope, theta=theta, head_width=head_width, length=length)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=0)
    assert our_gain == pytest.approx(gain)


def test_plain_frequencies_are_powers_of_theta() -> None:
    frequency, gain = frequencies(config(theta=100.0), head_width=8)
    assert frequency.tolist() == pytest.approx([1.0, 100**-0.25, 100**-0.5, 100**-0.75])
    assert gain == 1.0


@pytest.mark.parametrize("name", ["plain", *SCALINGS])
def test_a_pair_of_dimensions_turns_like_a_complex_number(name: str) -> None:
    scaling = None if name == "plain" else SCALINGS[name][0]
    places = [0, 1, 7, 90]
    x = torch.randn(1, 2, 4, 6, generator=torch.Generator().manual_seed(0))
    turned = RotaryPosition(config=config(scaling), head_width=6)(torch.tensor([places]), dtype=torch.float32).turn(x)
    frequency, gain = frequencies(config(scaling), head_width=6, length=91)
    for head in range(2):
        for index, place in enumerate(places):
            for pair in range(3):
                before = complex(x[0, head, index, pair], x[0, head, index, pair + 3])
                after = before * gain * cmath.exp(1j * place * frequency[pair].item())
                assert turned[0, head, index, pair].item() == pytest.approx(after.real, abs=2e-5)
                assert turned[0, head, index, pair + 3].item() == pytest.approx(after.imag, abs=2e-5)


def test_place_zero_does_not_turn() -> None:
    x = torch.randn(2, 3, 1, 4)
    rotation = RotaryPosition(config=config(), head_width=4)(torch.zeros(1, 1, dtype=torch.long), dtype=torch.float32)
    assert rotation.turn(x).equal(x)


def test_turning_keeps_lengths() -> None:
    x = torch.randn(1, 1, 50, 8)
    rotation = RotaryPosition(config=config(), head_width=8)(torch.arange(50).unsqueeze(0), dtype=torch.float32)
    torch.testing.assert_close(rotation.turn(x).norm(dim=-1), x.norm(dim=-1))


def test_half_precision_still_tells_far_places_apart() -> None:
    places = torch.tensor([[2048, 2049]])  # one number in bfloat16
    rotation = RotaryPosition(config=config(), head_width=4)(places, dtype=torch.bfloat16)
    assert rotation.cos.dtype == torch.bfloat16
    assert rotation.cos[0, 0, 0, 0].item() == pytest.approx(math.cos(2048), abs=1e-2)
    assert rotation.cos[0, 0, 1, 0].item() == pytest.approx(math.cos(2049), abs=1e-2)


def test_dynamic_scaling_follows_the_length_of_each_text() -> None:
    rotary = RotaryPosition(config=config(SCALINGS["dynamic"][0]), head_width=8)

    def turn(length: int) -> torch.Tensor:
        return rotary(torch.arange(length).unsqueeze(0), dtype=torch.float32).cos[0, 0, 9]

    short = turn(20)
    assert not turn(100).equal(short)
    assert turn(LENGTH).equal(short)


def test_it_has_nothing_to_learn() -> None:
    assert not list(RotaryPosition(config=config(), head_width=4).parameters())
