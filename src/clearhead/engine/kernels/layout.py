"""Weights as kernels read them: whole numbers in blocks, a few inputs of each output at a time; floats in panels."""

import torch
from jaxtyping import Float, Int8
from torch import Tensor
from torch.nn import functional

from clearhead.engine.kernels.depth import depth
from clearhead.engine.kernels.fields import OUTPUTS, PANEL
from clearhead.engine.kernels.pages import spread


def pack(integer: Tensor) -> Int8[Tensor, "blocks groups lanes depth"]:
    """A matrix in blocks of outputs; what is missing from the last block or group is zeros, and groups are even."""
    n_outputs, width = integer.shape
    n_blocks, n_groups = -(-n_outputs // OUTPUTS), -(-width // (2 * depth())) * 2
    whole = functional.pad(integer, (0, depth() * n_groups - width, 0, OUTPUTS * n_blocks - n_outputs))
    packed = spread(n_blocks, n_groups, OUTPUTS, depth(), dtype=torch.int8)
    return packed.copy_(whole.view(n_blocks, OUTPUTS, n_groups, depth()).transpose(1, 2))


def unpack(packed: Tensor, first: int, end: int, *, width: int) -> Int8[Tensor, "outputs D"]:
    """Some rows of the matrix that was packed; `first` begins a block."""
    blocks = packed[first // OUTPUTS : -(-end // OUTPUTS)]
    return blocks.transpose(1, 2).reshape(OUTPUTS * len(blocks), -1)[: end - first, :width]


def panelled(weight: Tensor) -> Float[Tensor, "panels D lanes"]:
    """A matrix in panels of outputs, whose weights for one input lie side by side; the last is filled with zeros."""
    n_outputs, width = weight.shape
    n_panels = -(-n_outputs // PANEL)
    whole = functional.pad(weight, (0, 0, 0, PANEL * n_panels - n_outputs))
    panels = spread(n_panels, width, PANEL, dtype=torch.float32)
    return panels.copy_(whole.view(n_panels, PANEL, width).transpose(1, 2))
