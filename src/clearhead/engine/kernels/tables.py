"""What kernels read, as tables of addresses; whoever makes a table keeps what it points to."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.layout import panelled


@runtime_checkable
class PackedMatrix(Protocol):
    """A matrix of whole numbers as kernels read it."""

    packed: Tensor
    scales: Tensor
    shifts: Tensor
    n_outputs: int
    width: int
    largest: int
    even: int


class Product:
    """A matrix and a bias, as a kernel reads them.

    Args:
        kind: The format of the weights.
        table: The numbers that describe the product.
        kept: What they point to.
    """

    def __init__(self, *, kind: int, table: list[int], kept: tuple[Tensor | None, ...]) -> None:
        self.kind = kind
        self.table = np.array(table, dtype=np.int64)
        self.kept = kept

    @property
    def n_outputs(self) -> int:
        """Outputs."""
        return int(self.table[at.N_OUTPUTS])

    @property
    def n_inputs(self) -> int:
        """Inputs."""
        return int(self.table[at.N_INPUTS])

    @classmethod
    def int8(cls, matrix: PackedMatrix, biases: Tensor) -> "Product":
        """A product of whole numbers; scales and biases fill whole registers."""
        kept = (matrix.packed, matrix.scales, biases, matrix.shifts)
        table = [*(one.data_ptr() for one in kept), matrix.n_outputs, matrix.width, matrix.largest, matrix.even]
        return cls(kind=at.INT8, table=table, kept=kept)

    @classmethod
    def float32(cls, weight: Tensor, bias: Tensor | None) -> "Product":
        """A product of floats, in the order in which parameters lie."""
        weight, bias = weight.detach(), None if bias is None else bias.detach()
        assert weight.is_contiguous() and (bias is None or bias.is_contiguous())
        table = [weight.data_ptr(), 0, 0 if bias is None else bias.data_ptr(), 0, *weight.shape, 0, 0]
        return cls(kind=at.FLOAT32, table=table, kept=(weight, bias))

    def in_panels(self) -> "Product":
        """The same product of floats with its weights laid out for many rows, in memory of its own."""
        weight, bias = self.kept
        assert self.kind == at.FLOAT32 and weight is not None
        panels = panelled(weight)
        biases = torch.zeros(len(panels) * at.PANEL)
        if bias is not None:
            biases[: len(bias)] = bias
        table = [panels.data_ptr(), 0, biases.data_ptr(), 0, *weight.shape, 0, 0]
        return Product(kind=at.PANELS, table=table, kept=(panels, biases))
