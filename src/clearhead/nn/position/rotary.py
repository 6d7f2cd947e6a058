"""Rotary positions: queries and keys turn by an angle that grows with their place."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearhead.config import PositionConfig, RotaryScaling, RotaryScalingKind


class Rotation(NamedTuple):
    """The cosines and sines of the angles of some places, one pair of columns an angle."""

    cos: Tensor
    sin: Tensor

    def turn(self, x_BHTC: Float[Tensor, "B H T C"]) -> Float[Tensor, "B H T C"]:
        """Queries or keys, turned.

        Dimension i is turned together with dimension i + C/2, as published Llama checkpoints have it.
        """
        first, second = x_BHTC.chunk(2, dim=-1)
        return x_BHTC * self.cos + torch.cat([-second, first], dim=-1) * self.sin


class RotaryPosition(nn.Module):
    """Turns each pair of dimensions by place × frequency.

    turned[p] = R(p · frequency) x        turned[q] · turned[k] depends on k - q alone        (Su et al. 2021)
    """

    def __init__(self, *, config: PositionConfig, head_width: int) -> None:
        super().__init__()
        self.config = config
        self.head_width = head_width
        self._known: tuple[object, Tensor, float] | None = None

    def forward(self, positions: Int[Tensor, "B T"], *, dtype: torch.dtype) -> Rotation:
        """The rotation of these places, the same for every head."""
        frequency, gain = self._frequencies(positions)
        # Angles are always float32: half precision cannot tell far places apart.
        angle = (positions.unsqueeze(-1).float() * frequency).repeat(1, 1, 2).unsqueeze(1)
        return Rotation((angle.cos() * gain).to(dtype), (angle.sin() * gain).to(dtype))

    def _frequencies(self, positions: Tensor) -> tuple[Tensor, float]:
        scaling = self.config.scaling
        stretches = scaling is not None and scaling.kind is RotaryScalingKind.DYNAMIC
        length = int(positions.max()) + 1 if stretches else 0
        key = (positions.device, length)
        known = self._known  # read once: another thread may put its own in place
        if known is None or known[0] != key:
            frequency, gain = frequencies(self.config, head_width=self.head_width, length=length)
            known = self._known = (key, frequency.to(positions.device), gain)
        return known[1], known[2]


def frequencies(config: PositionConfig, *, head_width: int, length: int = 0) -> tuple[Tensor, float]:
    """The frequency of each pair of dimensions, and what cosines and sines are multiplied by.

    Args:
        config: Base and scaling.
        head_width: Twice the number of pairs.
        length: The length of the present text, which only dynamic scaling asks for.
    """
    frequency = _plain(config.theta, head_width)
    scaling = config.scaling
    if scaling is None:
        return frequency, 1.0
    match scaling.kind:
        case RotaryScalingKind.LINEAR:
            return frequency / scaling.factor, 1.0
        case RotaryScalingKind.LLAMA3:
            return _llama3(frequency, scaling), 1.0
        case RotaryScalingKind.DYNAMIC:
            return _plain(_dynamic_theta(config.theta, head_width, length, scaling), head_width), 1.0
        case RotaryScalingKind.YARN:
            gain = scaling.attention_factor or 0.1 * math.log(max(scaling.factor, 1.0)) + 1.0
            return _yarn(frequency, config.theta, scaling), gain


def _plain(theta: float, head_width: int) -> Tensor:
    exponents = torch.arange(0, head_width, 2, dtype=torch.float32, device="cpu") / head_width
    return 1.0 / theta**exponents


def _llama3(frequency: Tensor, scaling: RotaryScaling) -> Tensor:
    """Long waves are stretched, short ones left alone, those between mixed smoothly."""
    assert scaling.original_length is not None
    turns = scaling.original_length * frequency / (2 * math.pi)
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    share = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - share) * frequency / scaling.factor + share * frequency


def _dynamic_theta(theta: float, head_width: int, length: int, scaling: RotaryScaling) -> float:
    """The base grows with the text beyond the length that was trained."""
    assert scaling.original_length is not None
    length = max(length, scaling.original_length)
    stretch = scaling.factor * length / scaling.original_length - (scaling.factor - 1)
    return theta * stretch ** (head_width / (head_width - 2))


def _yarn(frequency: Tensor, theta: float, scaling: RotaryScaling) -> Tensor:
    """Waves that turn seldom within the trained length are stretched, on a ramp over the dimensions."""
    assert scaling.original_length is not None
    n_pairs = frequency.shape[0]

    def pair_that_turns(turns: float) -> float:
        assert scaling.original_length is not None
        return n_pairs * math.log(scaling.original_length / (turns * 2 * math.pi)) / math.log(theta)

    first = max(math.floor(pair_that_turns(scaling.beta_fast)), 0)
    last = min(math.ceil(pair_that_turns(scaling.beta_slow)), 2 * n_pairs - 1)
    pair = torch.arange(n_pairs, dtype=torch.float32, device="cpu")
    stretched = ((pair - first) / max(last - first, 0.001)).clamp(0, 1)
    return frequency / scaling.factor * stretched + frequency * (1 - stretched)
