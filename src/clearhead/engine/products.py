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

from clearhead.engine.kernels.pages import settle
from clearhead.engine.kernels.ready import kernels
from clearhead.engine.kernels.rows_of import multiply
from clearhead.engine.kernels.tables import Product
from clearhead.nn.product import product

_FEW_ROWS = 64
_SLICES = 8


class FewRowsLinear(nn.Module):
    """A linear layer that picks the fastest product for the number of rows.

    Args:
        weight: The weights, one row an output; shared with the layer that it stands in for.
        bias: What is added; None for nothing.
    """

    def __init__(self, *, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        if isinstance(weight, nn.Parameter):
            settle(weight)
        self.weight = weight
        self.bias = bias
        self._n_outputs, self._width = weight.shape
        n_sliced = self._n_outputs // _SLICES * _SLICES
        # One row would be multiplied by one thread alone, so that the weights are cut into slices for all.
        self._slices = weight.detach()[:n_sliced].view(_SLICES, -1, self._width).mT if n_sliced else None
        self.product = Product.float32(weight, bias)
        self._rest = weight.detach()[n_sliced:] if n_sliced < self._n_outputs else None

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:
        """The product with every row."""
        n_rows = x.numel() // self._width
        if n_rows > _FEW_ROWS or n_rows == 0 or torch.is_grad_enabled():
            return product(x, self.weight, self.bias)
        if x.dtype is torch.float32 and kernels() is not None:
            return multiply(x.reshape(n_rows, self._width), self.product).reshape(*x.shape[:-1], self._n_outputs)
        found = self._one_row(x) if n_rows == 1 else self._few_rows(x.reshape(n_rows, self._width))
        found = found.reshape(*x.shape[:-1], self._n_outputs)
        return found if self.bias is None else found + self.bias

    def _few_rows(self, rows: Tensor) -> Tensor:
        # The weights on the left: they are read once, in the order in which they lie.
        return (self.weight @ rows.t()).t()

    def _one_row(self, x: Tensor) -> Tensor:
        row_11D = x.reshape(1, 1, self._width)
        if self._slices is None:
            return functional.linear(row_11D, self.weight)
        found = torch.bmm(row_11D.expand(_SLICES, 1, self._width), self._slices)
        if self._rest is None:
            return found
        return torch.cat([found.flatten(), functional.linear(row_11D, self._rest).flatten()])
