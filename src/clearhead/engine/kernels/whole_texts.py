"""Whole texts through the blocks of an encoder, by a kernel: laid end to end, without their padding.

Every row is one position of one text, and looks at all positions of it. A product meets all rows at once; some hundred
of them stay near the processor from one product to the next.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from clearhead.config import StackConfig
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import Buffers
from clearhead.engine.kernels.fleet import fleet

_ROWS_AT_ONCE = 512
"""Rows that go through all blocks together, about: texts stay whole."""


class Laid:
    """Texts laid end to end.

    Args:
        x_BSD: The vectors of all positions.
        real_BS: True where a position is real; None if all are.
    """

    def __init__(self, *, x_BSD: Float[Tensor, "B S D"], real_BS: Bool[Tensor, "B S"] | None) -> None:
        n_texts, length, width = x_BSD.shape
        self._shape = x_BSD.shape
        self._places: Tensor | None = None
        self._lengths = np.full(n_texts, length, dtype=np.int64)
        self._rows = x_BSD.detach().reshape(-1, width)
        self._left = torch.empty_like(self._rows) if real_BS is None else torch.zeros_like(self._rows)
        if real_BS is not None:
            self._real = real_BS.numpy()
            self._lengths = self._real.sum(1)
            self._places = torch.as_tensor(np.flatnonzero(self._real))

    @property
    def n_rows(self) -> int:
        """How many positions are real."""
        return int(self._lengths.sum())

    @property
    def longest(self) -> int:
        """How many positions the longest text has."""
        return int(self._lengths.max(initial=1))

    @cached_property
    def chunks(self) -> list[tuple[int, int, np.ndarray]]:
        """Whole texts that go together, about as many rows each: their first row, their end, and where texts are there.

        The last has two numbers for each row: the first row of its text, counted from the chunk's, and how many it has.
        """
        ends = np.cumsum(self._lengths)
        total = int(ends[-1]) if len(ends) else 0
        n_chunks = -(-total // _ROWS_AT_ONCE)
        shares = (2 * ends - self._lengths) * n_chunks // max(1, 2 * total)  # where the middle of each text lies
        found: list[tuple[int, int, np.ndarray]] = []
        for share in np.unique(shares):
            lengths = self._lengths[shares == share]
            begins = np.cumsum(lengths) - lengths
            end = int(ends[shares == share][-1])
            spans = np.repeat(np.stack([begins, lengths], axis=1), lengths, axis=0)
            found.append((end - len(spans), end, spans))
        return found

    def apart(self, patterns: np.ndarray) -> np.ndarray:
        """Patterns as [layer, text, head, query, key]; zeros at padding.

        Args:
            patterns: For each layer and row, the patterns of all heads one after another, in room for the longest text.
        """
        n_layers, _, n_heads, longest = patterns.shape
        n_texts, length, _ = self._shape
        if self._places is None:
            return patterns.reshape(n_layers, n_texts, length, n_heads, length).swapaxes(2, 3)
        found = np.zeros((n_layers, n_texts, n_heads, length, length), dtype=np.float32)
        rows, first = patterns.reshape(n_layers, -1, n_heads * longest), 0
        for text, n in enumerate(self._lengths.tolist()):
            own = rows[:, first : first + n, : n_heads * n].reshape(n_layers, n, n_heads, n)
            real = self._real[text]
            if real[:n].all():
                found[:, text, :, :n, :n] = own.swapaxes(1, 2)
            else:
                found[:, text][np.ix_(range(n_layers), range(n_heads), *2 * [real.nonzero()[0]])] = own.swapaxes(1, 2)
            first += n
        return found

    def take(self, first: int, end: int, to: Tensor) -> None:
        """Copies some rows to where a kernel begins."""
        if self._places is None:
            to.copy_(self._rows[first:end])
        else:
            torch.index_select(self._rows, 0, self._places[first:end], out=to)

    def leave(self, first: int, end: int, rows: Tensor) -> None:
        """Takes what a kernel left of some rows."""
        if self._places is None:
            self._left[first:end] = rows
        else:
            self._left.index_copy_(0, self._places[first:end], rows)

    @property
    def left(self) -> Float[Tensor, "B S D"]:
        """What was left of all rows, which lie as they were given; zeros at padding."""
        return self._left.view(self._shape)


def pass_texts(
    laid: Laid,
    run: Callable[..., None],
    buffers: Buffers,
    *,
    shape: np.ndarray,
    numbers: np.ndarray,
    blocks: np.ndarray,
    patterns: np.ndarray | None = None,
) -> Float[Tensor, "B S D"]:
    """The stream after all blocks.

    Args:
        laid: The texts.
        run: The kernel that passes blocks.
        buffers: Memory that fits: see `room`.
        shape: The table of the stack; its own copy.
        numbers: The numbers of the stack.
        blocks: The table of its blocks.
        patterns: Where patterns are left, as [layer, row, head, key]; None where nobody wants them.
    """
    shape[at.ROUNDED], shape[at.ROUNDED_STRIDE] = buffers.rounded.data_ptr(), 2 * buffers.rounded.stride(0)
    shape[at.ROW_SCALES] = buffers.scales.data_ptr()
    width = int(shape[at.WIDTH])
    for first, end, spans in laid.chunks:
        shape[at.SPANS], shape[at.N_ROWS] = spans.ctypes.data, end - first
        if patterns is not None:
            shape[at.PATTERNS] = patterns.ctypes.data + first * patterns.strides[1]
            shape[at.PATTERNS_LAYER], shape[at.PATTERNS_ROW] = patterns.strides[:2]
        laid.take(first, end, buffers.rows(at.PRE, end - first, width, layer=0))
        fleet().run(run, shape, numbers, blocks, buffers.where, buffers.stride)
        laid.leave(first, end, buffers.rows(at.POST, end - first, width))
    return laid.left


def room(laid: Laid, config: StackConfig, held: Buffers | None) -> Buffers:
    """Memory for these texts: what is held, if that will do.

    A row of scores is a thread's, and as wide as the heads of so many keys; together they hold the longest text.
    """
    most = max((end - first for first, end, _ in laid.chunks), default=0)
    n_rows = max(_ROWS_AT_ONCE, -(-most // 64) * 64, fleet().size)
    n_keys = -(-laid.longest // config.attention.n_heads)
    if held is not None and held.fits(n_rows=n_rows, n_keys=n_keys, n_source=0, apart=frozenset()):
        return held
    return Buffers(config=config, n_rows=n_rows, n_keys=max(64, n_keys), n_source=0)
