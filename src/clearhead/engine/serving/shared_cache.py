"""The cache of a batch that rows join and leave, as a stack of blocks sees it."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from clearhead.engine.serving.own_memory import OwnMemory
from clearhead.engine.serving.source_memory import SourceMemory
from clearhead.nn import BlockCache, KeyValueCache, StackCache
from clearhead.nn.attention.cache import Memory


@dataclass(frozen=True, kw_only=True)
class HeldKeys:
    """What a model remembers of one request outside the batch; its rows are of one length and have one source.

    Attributes:
        own: Keys and values of its own texts, a row a text.
        source: Keys and values of its source, in one row; None where there is no source.
    """

    own: tuple[Float[Tensor, "L B G K C"], Float[Tensor, "L B G K C"]]
    source: tuple[Float[Tensor, "L 1 G S C"], Float[Tensor, "L 1 G S C"]] | None = None

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        own = self.own[0].shape[1] * self.own[0].shape[3]
        return own + (0 if self.source is None else self.source[0].shape[3])

    def select(self, rows: list[int]) -> "HeldKeys":
        """These rows, in this order; one may be taken several times."""
        if rows == list(range(self.own[0].shape[1])):
            return self
        rows_B = torch.tensor(rows)
        key, value = (kept.index_select(1, rows_B) for kept in self.own)
        return HeldKeys(own=(key, value), source=self.source)


class _OwnLayer(KeyValueCache):
    """One layer's own past."""

    def __init__(self, *, memory: OwnMemory, layer: int) -> None:
        super().__init__(capacity=0)
        self._memory = memory
        self._layer = layer

    def append(self, key_BGKC: Float[Tensor, "B G K C"], value_BGKC: Float[Tensor, "B G K C"]) -> tuple[Tensor, Tensor]:
        """Takes the keys and values of one new position; gives those of all positions so far."""
        return self._memory.write(self._layer, key_BGKC, value_BGKC)

    def opened(self, n_new: int = 1, *, n_rows: int = 0) -> Memory:
        """The memory of all positions and one more, which a kernel writes; its rows are all there are."""
        assert n_new == 1
        del n_rows
        return Memory(*self._memory.open(self._layer), None)


class _SourceLayer(KeyValueCache):
    """One layer's sources, which do not change."""

    def __init__(self, *, memory: SourceMemory, layer: int) -> None:
        super().__init__(capacity=0)
        self._memory = memory
        self._layer = layer

    def so_far(self) -> tuple[Tensor, Tensor]:
        """The keys and values of all positions."""
        return self._memory.of(self._layer)


class SharedCache(StackCache):
    """The caches of a whole stack, for rows of any length.

    A pass that fails in the middle leaves it as it was: a position counts only after `close_step`.

    Args:
        n_layers: Blocks.
    """

    def __init__(self, *, n_layers: int) -> None:
        super().__init__(n_layers=n_layers, capacity=0)
        self._own, self._source = OwnMemory(), SourceMemory()
        self._starts_B1: Tensor | None = None
        self.blocks = [
            BlockCache(
                own=_OwnLayer(memory=self._own, layer=layer), cross=_SourceLayer(memory=self._source, layer=layer)
            )
            for layer in range(n_layers)
        ]

    @property
    def n_rows(self) -> int:
        """Rows in the batch."""
        return len(self._own.lengths)

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        return self._own.positions + self._source.positions

    @property
    def source_mask(self) -> Bool[Tensor, "B S"] | None:
        """True where a source token is real; None if all are."""
        return self._source.mask_BS

    def put(self, held: HeldKeys) -> None:
        """Adds a request's rows behind the others."""
        self._own.put(*held.own)
        if held.source is not None:
            self._source.put(*held.source, n_rows=held.own[0].shape[1])
        self._align()

    def take(self, rows: list[int]) -> HeldKeys:
        """A copy of what is remembered of the rows of one request."""
        source = self._source.take(rows[0]) if self._source.positions else None
        return HeldKeys(own=self._own.take(rows), source=source)

    def keep(self, origins: list[int]) -> None:
        """Goes on with rows from these places; one may be taken several times."""
        self._own.keep(origins)
        if self._source.positions:
            self._source.keep(origins)
        self._align()

    def open_step(self) -> Bool[Tensor, "B K"] | None:
        """Makes room for one position more; gives True where positions are real, that one included."""
        self._own.open_step()
        width = self._own.width
        for block in self.blocks:
            block.own.length = width
        return None if self._starts_B1 is None else torch.arange(width + 1) >= self._starts_B1

    def close_step(self) -> None:
        """Counts the position that every layer has written."""
        self._own.close_step()

    def _align(self) -> None:
        """Takes note of how many columns there are before each row's text: that stays while rows grow together."""
        lengths, width = self._own.lengths, self._own.width
        even = all(length == width for length in lengths)
        self._starts_B1 = None if even else torch.tensor([width - length for length in lengths]).unsqueeze(1)
        for block in self.blocks:
            block.cross.length = self._source.width
