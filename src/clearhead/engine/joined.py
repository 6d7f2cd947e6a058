"""Linear layers that read the same vectors, multiplied at once.

    [y1 y2 y3] = x [W1; W2; W3]^T

Queries, keys and values read the same stream, and so do a gate and what it gates. One product over their
weights laid end to end costs less than several. A part still asks each layer by itself: the first that is
asked multiplies for all, and leaves the rest with the vectors that it was asked about.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearhead.engine.kernels.pages import moved, spread
from clearhead.engine.kernels.tables import Product
from clearhead.nn.product import product

_KEPT = "_clearhead_joined"


class JoinedProduct:
    """The product of several layers.

    Args:
        layers: The layers. Their weights are laid end to end in new memory, in which they keep being parameters of
            their own.
        make: Makes a product of weights and biases.
        by_rows: Whether what comes after reads row by row, so that rows had better lie in one piece.
    """

    def __init__(self, *, layers: Sequence[nn.Linear], make: Callable[..., Any], by_rows: bool = False) -> None:
        self._by_rows = by_rows
        self.sizes = [layer.out_features for layer in layers]
        weight = _end_to_end([layer.weight for layer in layers])
        biases: list[Tensor | None] = [layer.bias for layer in layers]
        present = [bias for bias in biases if bias is not None]
        bias = _end_to_end(present) if present else None
        assert len(present) in (0, len(layers)), "all have a bias, or none"
        self.product = make(weight=weight, bias=bias)

    def take(self, x: Tensor, place: int) -> Tensor:
        """One layer's part; all are computed where this is the first to be asked for with these vectors."""
        kept: tuple[JoinedProduct, tuple[Tensor, ...]] | None = getattr(x, _KEPT, None)
        if kept is None or kept[0] is not self:
            found = self.product(x)
            found = found.contiguous() if self._by_rows else found
            kept = (self, torch.split_with_sizes(found, self.sizes, dim=-1))
            setattr(x, _KEPT, kept)
        return kept[1][place]


class JoinedLinear(nn.Module):
    """One of several layers that are multiplied at once.

    Args:
        layer: The layer that it stands in for.
        joined: The product of all.
        place: Which of them this is.
    """

    def __init__(self, *, layer: nn.Linear, joined: JoinedProduct, place: int) -> None:
        super().__init__()
        self.weight = layer.weight
        self.bias = layer.bias
        self._joined = joined
        self._place = place

    @property
    def product(self) -> Product:
        """The product of all, as kernels read it."""
        return self._joined.product.product

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:
        """This layer's product."""
        if torch.is_grad_enabled():
            return product(x, self.weight, self.bias)
        return self._joined.take(x, self._place)


def _end_to_end(parts: Sequence[Tensor]) -> Tensor:
    """Parameters in one piece of memory, which they become views of; those that lie so already stay."""
    first = parts[0].detach()
    width = first[0].numel()
    ends = [part.data_ptr() + part.numel() * part.element_size() for part in parts]
    adjacent = all(end == part.data_ptr() for end, part in zip(ends, parts[1:], strict=False))
    same = all(part.untyped_storage().data_ptr() == parts[0].untyped_storage().data_ptr() for part in parts)
    n_rows = sum(len(part) for part in parts)
    if adjacent and same:
        return first.as_strided((n_rows, *first.shape[1:]), (width, 1) if first.ndim == 2 else (1,))
    whole = spread(n_rows, *first.shape[1:], dtype=first.dtype) if first.device.type == "cpu" else None
    whole = torch.cat([part.detach() for part in parts], out=whole)
    start = 0
    for part in parts:
        part.data = whole[start : start + len(part)]
        start += len(part)
    moved(whole.nbytes)
    return whole
