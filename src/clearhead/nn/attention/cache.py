"""The key/value cache: what earlier positions already computed, kept for later ones."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.errors import DecodingError

_FIRST_POSITIONS = 1024


class KeyValueCache:
    """The keys and values of one attention, in memory that is allocated ahead and doubled where it runs out.

    Args:
        capacity: Positions that fit.
    """

    def __init__(self, *, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self._key_BGKC: Tensor | None = None
        self._value_BGKC: Tensor | None = None

    def append(self, key_BGKC: Float[Tensor, "B G K C"], value_BGKC: Float[Tensor, "B G K C"]) -> tuple[Tensor, Tensor]:
        """Takes the keys and values of new positions; gives those of all positions so far.

        Raises:
            DecodingError: More positions than fit.
        """
        end = self.length + key_BGKC.shape[2]
        self._check_fits(end)
        if self._key_BGKC is None or self._value_BGKC is None:
            batch, n_kv_heads, _, head_width = key_BGKC.shape
            ahead = min(self.capacity, max(end, _FIRST_POSITIONS))
            self._key_BGKC = key_BGKC.new_empty(batch, n_kv_heads, ahead, head_width)
            self._value_BGKC = value_BGKC.new_empty(batch, n_kv_heads, ahead, head_width)
        if key_BGKC.shape[0] != self._key_BGKC.shape[0]:
            raise DecodingError(
                "another batch than the one that is cached",
                got=f"{key_BGKC.shape[0]} rows",
                expected=f"{self._key_BGKC.shape[0]} rows",
                advice="a cache for each batch, or select() the rows that go on",
            )
        if end > self._key_BGKC.shape[2]:
            self._grow(end)
        # Caching serves inference; the graph of a training step must not grow through it.
        with torch.no_grad():
            self._key_BGKC[:, :, self.length : end] = key_BGKC
            self._value_BGKC[:, :, self.length : end] = value_BGKC
        self.length = end
        return self.so_far()

    def opened(self) -> tuple[Tensor, Tensor]:
        """The memory of all positions and one more, which counts from now on: a kernel writes it where it lies.

        Raises:
            DecodingError: It does not fit.
        """
        end = self.length + 1
        self._check_fits(end)
        assert self._key_BGKC is not None and self._value_BGKC is not None, "nothing was appended yet"
        if end > self._key_BGKC.shape[2]:
            self._grow(end)
        self.length = end
        return self._key_BGKC, self._value_BGKC

    def _check_fits(self, end: int) -> None:
        if end > self.capacity:
            raise DecodingError(
                "the cache is full",
                got=f"{end} positions",
                expected=f"at most {self.capacity}",
                advice="a shorter text, fewer new tokens, or a cache of larger capacity",
            )

    def _grow(self, end: int) -> None:
        """Takes memory for twice as many positions."""
        assert self._key_BGKC is not None and self._value_BGKC is not None
        every_B = torch.arange(self._key_BGKC.shape[0], device=self._key_BGKC.device)
        ahead = min(self.capacity, 2 * end)
        self._key_BGKC = self._selected(self._key_BGKC, every_B, ahead)
        self._value_BGKC = self._selected(self._value_BGKC, every_B, ahead)

    def so_far(self) -> tuple[Tensor, Tensor]:
        """The keys and values of all positions so far."""
        assert self._key_BGKC is not None and self._value_BGKC is not None, "nothing was appended yet"
        return self._key_BGKC[:, :, : self.length], self._value_BGKC[:, :, : self.length]

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Keeps these rows of the batch, in this order; a row may be taken several times."""
        if self._key_BGKC is not None and self._value_BGKC is not None:
            ahead = self._key_BGKC.shape[2]
            self._key_BGKC = self._selected(self._key_BGKC, rows_B, ahead)
            self._value_BGKC = self._selected(self._value_BGKC, rows_B, ahead)

    def _selected(self, stored_BGKC: Tensor, rows_B: Tensor, ahead: int) -> Tensor:
        """Some rows in new memory; only what is filled is copied."""
        _, n_kv_heads, _, head_width = stored_BGKC.shape
        selected_BGKC = stored_BGKC.new_empty(len(rows_B), n_kv_heads, ahead, head_width)
        selected_BGKC[:, :, : self.length] = stored_BGKC[:, :, : self.length].index_select(0, rows_B)
        return selected_BGKC


@dataclass(frozen=True, kw_only=True)
class BlockCache:
    """The caches of one block: its own past, and the source if it looks at one."""

    own: KeyValueCache
    cross: KeyValueCache


class StackCache:
    """The caches of a whole stack.

    A pass that fails in the middle leaves the blocks uneven: such a cache is spent.

    Args:
        n_layers: Blocks.
        capacity: Positions of the stack's own text that fit.
        source_length: Positions of the source, where there is one.
    """

    def __init__(self, *, n_layers: int, capacity: int, source_length: int = 0) -> None:
        self.capacity = capacity
        self.blocks = [
            BlockCache(own=KeyValueCache(capacity=capacity), cross=KeyValueCache(capacity=source_length))
            for _ in range(n_layers)
        ]

    @property
    def length(self) -> int:
        """Positions so far."""
        return self.blocks[0].own.length

    @property
    def source_length(self) -> int:
        """Positions of the source that are cached; 0 before the first pass."""
        return self.blocks[0].cross.length

    def select(self, rows_B: Int[Tensor, " B"], *, source: bool = True) -> None:
        """Keeps these rows of the batch, in this order, in every block.

        Args:
            rows_B: The rows that go on; one may be taken several times.
            source: Whether the rows change their sources too; False where each goes on with the source at its place.
        """
        for block in self.blocks:
            block.own.select(rows_B)
            if source:
                block.cross.select(rows_B)
