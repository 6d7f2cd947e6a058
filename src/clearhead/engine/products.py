"""Matrix products for few rows: where decoding spends its time.

    y = x W^T + b

A step of decoding multiplies a few rows by every weight once, so that reading the weights is the cost. The
usual product is made for many rows; with few it reads them slower than memory could give them.
`benchmarks/decode.py` measures what this brings.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

_FEW_ROWS = 64
_SLICES = 8


class FewRowsLinear(nn.Module):
    """A linear layer that picks the fastest product for the number of rows.

    Args:
        weight: The weights, one row an output; shared with the layer that it stands in for.
        bias: What is added; None for nothing.
    """

    def __init__(self, *, weight: nn.Parameter, bias: nn.Parameter | None) -> None:
        super().__init__()
        self.weight = weight
        self.bias = bias

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:
        """The product with every row."""
        return few_rows_linear(x, self.weight, self.bias)


def few_rows_linear(x: Float[Tensor, "... D"], weight: Tensor, bias: Tensor | None) -> Float[Tensor, "... outputs"]:
    """Like `functional.linear`, faster for few rows."""
    n_outputs, width = weight.shape
    n_rows = x.numel() // width
    if n_rows > _FEW_ROWS or n_rows == 0:
        return functional.linear(x, weight, bias)
    rows = x.reshape(n_rows, width)
    # The weights on the left: they are read once, in the order in which they lie.
    product = _one_row(rows.unsqueeze(0), weight) if n_rows == 1 else (weight @ rows.t()).t()
    product = product.reshape(*x.shape[:-1], n_outputs)
    return product if bias is None else product + bias


def _one_row(x_11D: Tensor, weight: Tensor) -> Tensor:
    """The product with one row: one thread would do it alone, so that the weights are cut into slices for all."""
    n_outputs, width = weight.shape
    n_sliced = n_outputs // _SLICES * _SLICES
    sliced = weight[:n_sliced].view(_SLICES, n_sliced // _SLICES, width).mT
    product = torch.bmm(x_11D.expand(_SLICES, 1, width), sliced).flatten()
    if n_sliced == n_outputs:
        return product
    return torch.cat([product, functional.linear(x_11D, weight[n_sliced:]).flatten()])
