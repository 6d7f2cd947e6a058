"""The memory of a step: buffers for the values of its stages, which stages and blocks share unless somebody hears."""

from math import prod

import numpy as np
import torch
from torch import Tensor

from clearhead.config import StackConfig
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.pages import aligned, large

_FLOATS = at.OUTPUTS
"""Rows are whole blocks of outputs, which products write."""
_TAKES_OVER = {
    at.SELF_QKV: at.EXPANDED,
    at.HIDDEN: at.EXPANDED,
    at.CROSS_IN: at.SELF_IN,
    at.FFN_IN: at.SELF_IN,
    at.CROSS_OUT: at.SELF_OUT,
    at.FFN_OUT: at.SELF_OUT,
}
"""Stages that lie where another lies whose values nobody needs by then: little memory stays nearer than much."""


class Buffers:
    """Buffers for so many rows, keys and source positions.

    Args:
        config: The sizes of the stack.
        n_rows: Rows that fit.
        n_keys: Positions of a row's own text that fit.
        n_source: Positions of a source that fit.
        apart: Buffers that every block has for itself.
    """

    def __init__(
        self, *, config: StackConfig, n_rows: int, n_keys: int, n_source: int, apart: frozenset[int] = frozenset()
    ) -> None:
        widths = widths_of(config, n_keys=n_keys, n_source=n_source)
        self.n_rows, self.n_keys, self.n_source = n_rows, n_keys, n_source
        padded = [-(-widths[place] // _FLOATS) * _FLOATS for place in range(at.BUFFERS)]
        self._apart = apart
        every = {place: large(config.n_layers, n_rows, padded[place], dtype=torch.float32) for place in apart}
        if apart:
            shared = {n: large(n_rows, width, dtype=torch.float32) for n, width in enumerate(padded) if n not in apart}
        else:
            padded[at.HIDDEN] = padded[at.EXPANDED]
            shared = _in_turns(n_rows, padded)
        self._rows = [
            [every[place][layer] if place in apart else shared[place] for place in range(at.BUFFERS)]
            for layer in range(config.n_layers if apart else 1)
        ]
        self._every = {place: buffer.numpy() for place, buffer in every.items()}
        self._arrays = [[buffer.numpy() for buffer in block] for block in self._rows]
        self.where = np.array([[buffer.data_ptr() for buffer in block] for block in self._rows], dtype=np.int64)
        self.stride = np.array([4 * width for width in padded], dtype=np.int64)
        n_shorts = 2 * max(padded)
        self.rounded = large(n_rows, n_shorts, dtype=torch.int16)
        self.scales = aligned(n_rows, dtype=torch.float32)

    def fits(self, *, n_rows: int, n_keys: int, n_source: int, apart: frozenset[int]) -> bool:
        """Whether a step of this size fits."""
        fits = n_rows <= self.n_rows and n_keys <= self.n_keys and n_source <= self.n_source
        return fits and apart <= self._apart  # runs with and without a listener may take turns

    def rows(self, place: int, n_rows: int, *shape: int, skip: int = 0, layer: int = -1) -> Tensor:
        """What a stage left, as its part would have it: the first numbers of every row in this shape, till the next."""
        n = prod(shape)
        return self._rows[layer][place][:n_rows, skip : skip + n].view(n_rows, *shape)

    def array(self, place: int, n_rows: int, *shape: int, skip: int = 0, layer: int = -1) -> np.ndarray:
        """The same as an array, which is sooner made than a tensor."""
        n = prod(shape)
        return self._arrays[layer][place][:n_rows, skip : skip + n].reshape(n_rows, *shape)

    def every(self, place: int, n_rows: int, n: int, *, skip: int = 0, layers: slice | list[int]) -> np.ndarray:
        """So many numbers of every row, of several blocks that have this buffer for themselves, one after another."""
        return self._every[place][layers, :n_rows, skip : skip + n]

    def begin(self, x_BD: Tensor) -> None:
        """Takes the stream that blocks begin with; an array sooner than a tensor, here too."""
        n_rows, width = x_BD.shape
        self._arrays[0][at.PRE][:n_rows, :width] = x_BD.detach().numpy()

    def end(self, n_rows: int, *shape: int) -> Tensor:
        """A copy of the stream that the last block left."""
        return torch.as_tensor(self.array(at.POST, n_rows, *shape).copy())


def widths_of(config: StackConfig, *, n_keys: int, n_source: int) -> dict[int, int]:
    """How many numbers a row has in each buffer."""
    attention, wide = config.attention, config.feedforward.width
    heads = attention.n_heads * config.head_width
    scores, source = attention.n_heads * n_keys, attention.n_heads * n_source
    widths = dict.fromkeys(range(at.BUFFERS), config.width)
    widths |= dict.fromkeys((at.TURNED, at.TURNED_KEY, at.MIXED, at.CROSS_Q, at.CROSS_MIXED), heads)
    widths |= {at.SELF_QKV: heads + 2 * attention.kv_heads * config.head_width}
    widths |= {at.SCORES: scores, at.PATTERN: scores, at.CROSS_SCORES: source, at.CROSS_PATTERN: source}
    return widths | {at.EXPANDED: 2 * wide if config.feedforward.gated else wide, at.HIDDEN: wide}


def _in_turns(n_rows: int, widths: list[int]) -> dict[int, Tensor]:
    """A buffer for every stage, of which some lie in one place: see `_TAKES_OVER`."""
    first = [_TAKES_OVER.get(place, place) for place in range(len(widths))]
    most = {one: max(width for other, width in zip(first, widths, strict=True) if other == one) for one in first}
    memory = {one: large(n_rows * width, dtype=torch.float32) for one, width in most.items()}
    return {
        place: memory[one][: n_rows * width].view(n_rows, width)
        for place, (one, width) in enumerate(zip(first, widths, strict=True))
    }
