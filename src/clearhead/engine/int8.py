"""Weights as whole numbers: a quarter of the memory.

    W ≈ scale · integer        scale = max |row| / 127, one for each output

Activations stay as they are, so that no row of a batch depends on another.
"""

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn
from torch.nn import functional

_LARGEST = 127
_ROWS_AT_ONCE = 4096


class Int8Linear(nn.Module):
    """A linear layer whose weights are whole numbers with one scale an output.

    Args:
        weight: The weights that are rounded.
        bias: What is added, as it is; None for nothing.
    """

    integer: Tensor
    scale: Tensor

    def __init__(self, *, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        integer, scale = quantise(weight)
        self.register_buffer("integer", integer)
        self.register_buffer("scale", scale)
        self.bias = bias

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:
        """The product with every row, a slice of the weights at a time."""
        slices = [
            functional.linear(x, self.integer[first : first + _ROWS_AT_ONCE].to(x.dtype))
            for first in range(0, len(self.integer), _ROWS_AT_ONCE)
        ]
        product = (slices[0] if len(slices) == 1 else torch.cat(slices, dim=-1)) * self.scale
        return product if self.bias is None else product + self.bias


def quantise(
    weight: Tensor,
) -> tuple[Int8[Tensor, "outputs D"], Float[Tensor, " outputs"]]:
    """The integers and the scales of a matrix."""
    scale = weight.detach().abs().amax(-1) / _LARGEST
    divisor = torch.where(scale > 0, scale, torch.ones_like(scale))  # a row of zeros stays one
    return (weight.detach() / divisor.unsqueeze(1)).round().to(torch.int8), scale
