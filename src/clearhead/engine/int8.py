"""Weights as whole numbers: a quarter of the memory, and sums that are exact.

    W ≈ scale · integer        scale = max |row| / 127, one for each output
    x ≈ scale' · integer'      scale' = max |x| / largest, one for each row of a batch

The products of whole numbers are summed as whole numbers, so that the order of a sum does not matter: every batch,
every number of threads and every kernel gives the same result, and no row depends on another. Weights have 8 bits,
rows nearly 16: as many as the sums of a matrix leave room for, so that rounding rows costs nothing to speak of, and
what the last digit of one product does is lost in the next. Before the vocabulary of an encoder-decoder a row has 8
bits, which are multiplied twice as fast, unless a few of its numbers stand out: 8 bits would leave little of the
others.
"""

import numpy as np
import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn
from torch.nn import functional

from clearhead.engine.kernels.fields import FEW, MANY, NEVER, OUTPUTS
from clearhead.engine.kernels.layout import pack, unpack
from clearhead.engine.kernels.pages import moved
from clearhead.engine.kernels.ready import kernels, worked
from clearhead.engine.kernels.rows_of import look_up, multiply
from clearhead.engine.kernels.tables import Product
from clearhead.errors import TextError
from clearhead.weights import whole_numbers

_LARGEST_SUM = 2**31 - 1
_ROWS_AT_ONCE = 4096
EVEN = 8
"""The mean size of numbers before the vocabulary from which on 8 bits do: half of 1 at most is rounded off."""
_EXACT = 512
"""So many products of 9-bit and 8-bit numbers have a sum that a float holds exactly."""


class Int8Matrix(nn.Module):
    """A matrix of whole numbers with one scale an output.

    Args:
        weight: The weights that are rounded.
        even: The mean size of whole numbers of 8 bits from which on a row has no more; `NEVER` for none.
    """

    packed: Tensor
    scales: Tensor
    shifts: Tensor

    def __init__(self, *, weight: Tensor, even: int = NEVER) -> None:
        super().__init__()
        self.even = even
        integer, scale = quantise(weight)
        self.n_outputs, self.width = weight.shape
        # Some rows at a time: sums of bytes are made by way of wider numbers, many times as large as they.
        parts = torch.split(integer, _ROWS_AT_ONCE)
        most = max(int(part.abs().sum(1, dtype=torch.long).max()) for part in parts) if integer.numel() else 1
        self.largest = min(MANY, _LARGEST_SUM // max(1, most))
        self.register_buffer("packed", pack(integer))
        missing = (0, -self.n_outputs % OUTPUTS)
        self.register_buffer("scales", functional.pad(scale, missing))
        # What bytes without a sign, which are 128 too large, add to a sum.
        shifts = -128 * torch.cat([part.sum(1, dtype=torch.int32) for part in parts])
        self.register_buffer("shifts", functional.pad(shifts, missing))
        n_bytes = 2 * integer.nbytes  # rounded, and filled up to whole blocks
        del integer, parts
        moved(n_bytes)

    def rows(self, first: int = 0, end: int | None = None) -> Int8[Tensor, "outputs D"]:
        """Some rows of whole numbers, as a plain matrix."""
        return unpack(self.packed, first, min(self.n_outputs, end or self.n_outputs), width=self.width)

    @property
    def scale(self) -> Float[Tensor, " outputs"]:
        """The scale of every output."""
        return self.scales[: self.n_outputs]


class Int8Linear(nn.Module):
    """A linear layer whose weights are whole numbers with one scale an output.

    Args:
        weight: The weights that are rounded, or a matrix of them that is shared with another layer.
        bias: What is added, as it is; None for nothing.
    """

    biases: Tensor

    def __init__(self, *, weight: Tensor | Int8Matrix, bias: Tensor | None) -> None:
        super().__init__()
        self.matrix = weight if isinstance(weight, Int8Matrix) else Int8Matrix(weight=weight)
        n_outputs = self.matrix.n_outputs
        given = torch.zeros(n_outputs) if bias is None else bias.detach().float()
        self.register_buffer("biases", functional.pad(given, (0, -n_outputs % OUTPUTS)))
        self.product = Product.int8(self.matrix, self.biases)

    @property
    def integer(self) -> Int8[Tensor, "outputs D"]:
        """The weights as whole numbers."""
        return self.matrix.rows()

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:
        """The product with every row."""
        matrix = self.matrix
        if torch.is_grad_enabled() and x.requires_grad:  # rounding has no gradient
            bias = self.biases[: matrix.n_outputs]
            return functional.linear(x, matrix.rows().to(x.dtype)) * matrix.scale + bias
        rows = x.detach().reshape(-1, matrix.width)
        rows = rows if rows.dtype is torch.float32 else rows.float()
        if kernels() is None:
            worked(rows.shape[0] * matrix.n_outputs * matrix.width)
            product = multiply_exactly(rows, matrix) + self.biases[: matrix.n_outputs]
        else:
            product = multiply(rows, self.product)
        product = product.reshape(*x.shape[:-1], matrix.n_outputs)
        return product if x.dtype is torch.float32 else product.to(x.dtype)


class Int8Embedding(nn.Module):
    """A token table of whole numbers.

    Args:
        matrix: The table, which may be the output layer's too.
        scale: What rows are multiplied by.
    """

    def __init__(self, *, matrix: Int8Matrix, scale: float) -> None:
        super().__init__()
        self.matrix = matrix
        self.scale = scale

    def forward(self, ids_BT: Tensor) -> Float[Tensor, "B T D"]:
        """The rows of these ids.

        Raises:
            TextError: An id outside the vocabulary.
        """
        matrix, ids = self.matrix, ids_BT.numpy()  # of few numbers, NumPy makes less ado than torch
        if ids.size and not 0 <= ids.min() <= ids.max() < matrix.n_outputs:
            raise TextError(
                "a token id outside the vocabulary",
                got=f"ids from {ids.min()} to {ids.max()}",
                expected=f"0 to {matrix.n_outputs - 1}",
                advice="the tokenizer that belongs to this model",
            )
        if kernels() is not None:
            return look_up(ids.ravel(), matrix, scale=self.scale).view(*ids.shape, matrix.width)
        integer = matrix.packed.numpy()[ids // OUTPUTS, :, ids % OUTPUTS]
        integer = integer.reshape(*ids.shape, -1)[..., : matrix.width]
        scale = matrix.scales.numpy()[ids] * np.float32(self.scale)
        return torch.as_tensor(integer * scale[..., None])


def quantise(
    weight: Tensor,
) -> tuple[Int8[Tensor, "outputs D"], Float[Tensor, " outputs"]]:
    """The integers and the scales of a matrix, as a file of whole numbers has them."""
    integer, scale = whole_numbers.quantise(weight)
    return integer, scale.squeeze(1)


def round_rows(rows: Tensor, *, largest: int, even: int = NEVER) -> tuple[Tensor, Tensor]:
    """Rows as whole numbers, of at most `largest` where they need so many, and their scales; as the kernel does it."""
    most = rows.abs().amax(-1, keepdim=True)
    few = torch.where(most > 0, (rows * torch.div(most.new_tensor(FEW), most)).round(), torch.zeros_like(rows))
    is_even = torch.nan_to_num(few).long().abs().sum(-1, keepdim=True) >= even * rows.shape[-1]
    many = torch.where(is_even, most.new_tensor(FEW), most.new_tensor(largest))
    factor = torch.div(many, most)  # divided once: a number over a tensor is rounded twice
    integer = torch.where(most > 0, (rows * factor).round(), torch.zeros_like(rows))
    return integer, torch.where(most < torch.inf, most / many, torch.full_like(most, torch.nan))


def multiply_exactly(rows: Tensor, matrix: Int8Matrix) -> Tensor:
    """What the kernel computes, in torch: each number is split in two, so that floats hold all sums exactly."""
    integer, row_scale = round_rows(rows, largest=matrix.largest, even=matrix.even)
    integer = torch.nan_to_num(integer)
    high = (integer / 128).round()
    parts = torch.cat([high, integer - 128 * high])
    slices: list[Tensor] = []
    for first in range(0, matrix.n_outputs, _ROWS_AT_ONCE):
        weight = matrix.rows(first, first + _ROWS_AT_ONCE).float()
        total = torch.zeros(2 * len(rows), len(weight), dtype=torch.long)
        for place in range(0, matrix.width, _EXACT):
            total += (parts[:, place : place + _EXACT] @ weight[:, place : place + _EXACT].t()).long()
        slices.append((128 * total[: len(rows)] + total[len(rows) :]).float())
    return torch.cat(slices, dim=-1) * matrix.scale * row_scale
