"""Weights as kernels read them: some outputs side by side, two inputs of each at a time."""

import torch
from jaxtyping import Int8
from torch import Tensor
from torch.nn import functional

from clearhead.engine.kernels.fields import OUTPUTS

_LINE = 64


def aligned(*shape: int, dtype: torch.dtype) -> Tensor:
    """Zeros that begin where a line of the processor's cache begins."""
    size = torch.empty(0, dtype=dtype).element_size()
    n_bytes = size
    for number in shape:
        n_bytes *= number
    with torch.inference_mode(mode=False):  # memory that outlives the mode it was first needed in
        raw = torch.zeros(n_bytes + _LINE, dtype=torch.int8)
        start = -raw.data_ptr() % _LINE
        return raw[start : start + n_bytes].view(dtype).view(*shape)


def pack(integer: Tensor) -> Int8[Tensor, "blocks pairs lanes two"]:
    """A matrix in blocks of outputs; what is missing from the last block or pair is zeros."""
    n_outputs, width = integer.shape
    n_blocks, n_pairs = -(-n_outputs // OUTPUTS), -(-width // 4) * 2
    whole = functional.pad(integer, (0, 2 * n_pairs - width, 0, OUTPUTS * n_blocks - n_outputs))
    packed = aligned(n_blocks, n_pairs, OUTPUTS, 2, dtype=torch.int8)
    return packed.copy_(whole.view(n_blocks, OUTPUTS, n_pairs, 2).transpose(1, 2))


def unpack(packed: Tensor, first: int, end: int, *, width: int) -> Int8[Tensor, "outputs D"]:
    """Some rows of the matrix that was packed; `first` begins a block."""
    blocks = packed[first // OUTPUTS : -(-end // OUTPUTS)]
    return blocks.transpose(1, 2).reshape(OUTPUTS * len(blocks), -1)[: end - first, :width]
