"""The key/value cache: what earlier positions already computed, kept for later ones.

Rows that change places are not moved: a table says in which row of memory each position of each row lies, so that the
beams of a search share what they have in common. Who needs rows in order gets them put in order once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.errors import DecodingError

_FIRST_POSITIONS = 64


class Memory(NamedTuple):
    """Keys and values as they lie, and the row of memory of each position of each row; None where rows are in order."""

    key_BGKC: Tensor
    value_BGKC: Tensor
    lines_BK: Tensor | None


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
        self._lines_BK: Tensor | None = None

    def append(self, key_BGKC: Float[Tensor, "B G K C"], value_BGKC: Float[Tensor, "B G K C"]) -> tuple[Tensor, Tensor]:
        """Takes the keys and values of new positions; gives those of all positions so far.

        Raises:
            DecodingError: More positions than fit.
        """
        end = self.length + key_BGKC.shape[2]
        self._check_fits(end)
        self._put_in_order()
        if self._key_BGKC is None or self._value_BGKC is None:
            self.begin(len(key_BGKC), end, like=key_BGKC)
        assert self._key_BGKC is not None and self._value_BGKC is not None
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

    def begin(self, n_rows: int, n_positions: int = 1, *, like: Tensor) -> None:
        """Takes memory for so many rows and at least so many positions, which are like others but for that."""
        ahead = min(self.capacity, max(n_positions, _FIRST_POSITIONS))
        self._key_BGKC, self._value_BGKC = (self._room(n_rows, ahead, like=like) for _ in range(2))

    def opened(self, n_new: int = 1, *, n_rows: int = 0) -> Memory:
        """The memory of all positions and some more, which count now: a kernel writes them in each row's own place.

        Args:
            n_new: How many more.
            n_rows: Rows that there may be on the way.

        Raises:
            DecodingError: They do not fit.
        """
        end = self.length + n_new
        self._check_fits(end)
        assert self._key_BGKC is not None and self._value_BGKC is not None, "nothing was appended yet"
        if n_rows > self._key_BGKC.shape[0]:
            self._move(n_rows, self._key_BGKC.shape[2])
        if end > self._key_BGKC.shape[2]:
            self._grow(end)
        self.length = end
        return Memory(self._key_BGKC, self._value_BGKC, self._lines_BK)

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
        assert self._key_BGKC is not None
        held, ahead = self._key_BGKC.shape[2], min(self.capacity, 2 * end)
        self._move(len(self._key_BGKC), ahead)
        if self._lines_BK is not None:
            own_B1 = torch.arange(len(self._lines_BK), device=self._lines_BK.device).unsqueeze(1)
            self._lines_BK = torch.cat([self._lines_BK, own_B1.expand(-1, ahead - held)], dim=1)

    def so_far(self) -> tuple[Tensor, Tensor]:
        """The keys and values of all positions so far."""
        self._put_in_order()
        assert self._key_BGKC is not None and self._value_BGKC is not None, "nothing was appended yet"
        return self._key_BGKC[:, :, : self.length], self._value_BGKC[:, :, : self.length]

    def stored(self) -> Memory:
        """The same as they lie in memory."""
        if self._lines_BK is None:
            return Memory(*self.so_far(), None)
        assert self._key_BGKC is not None and self._value_BGKC is not None
        return Memory(self._key_BGKC, self._value_BGKC, self._lines_BK)

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Keeps these rows of the batch, in this order; a row may be taken several times."""
        if self._key_BGKC is not None:
            self.follow(self.lines(rows_B))

    def lines(self, rows_B: Int[Tensor, " B"]) -> Int[Tensor, "B K"]:
        """Where each position of these rows lies; what is still to come has its own place."""
        assert self._key_BGKC is not None, "nothing was appended yet"
        held = self._key_BGKC.shape[2]
        if self._lines_BK is None:
            every_B = torch.arange(len(self._key_BGKC), device=rows_B.device)
            lines_BK = every_B.index_select(0, rows_B).unsqueeze(1).repeat(1, held)
        else:
            lines_BK = self._lines_BK.index_select(0, rows_B)
        lines_BK[:, self.length :] = torch.arange(len(rows_B), device=rows_B.device).unsqueeze(1)
        return lines_BK

    def follow(self, lines_BK: Int[Tensor, "B K"]) -> None:
        """Goes on with the rows of a table that `lines` gave, of this cache or of one that was written alike."""
        assert self._key_BGKC is not None, "nothing was appended yet"
        if len(lines_BK) > len(self._key_BGKC):
            self._move(len(lines_BK), self._key_BGKC.shape[2])
        self._lines_BK = lines_BK

    def _put_in_order(self) -> None:
        """Copies rows to where they would lie by themselves."""
        if self._lines_BK is None or self._key_BGKC is None or self._value_BGKC is None:
            return
        lines_BK, held = self._lines_BK[:, : self.length], self._key_BGKC.shape[2]
        every_K = torch.arange(self.length, device=lines_BK.device)
        before, self._lines_BK = (self._key_BGKC, self._value_BGKC), None
        self._key_BGKC, self._value_BGKC = (self._room(len(lines_BK), held, like=one) for one in before)
        for old, new in zip(before, (self._key_BGKC, self._value_BGKC), strict=True):
            new[:, :, : self.length] = old[lines_BK, :, every_K].transpose(1, 2)

    def _move(self, n_rows: int, ahead: int) -> None:
        """Goes over to memory for so many rows and positions, with all that there is."""
        assert self._key_BGKC is not None and self._value_BGKC is not None
        before = (self._key_BGKC, self._value_BGKC)
        self._key_BGKC, self._value_BGKC = (self._room(n_rows, ahead, like=one) for one in before)
        for old, new in zip(before, (self._key_BGKC, self._value_BGKC), strict=True):
            new[: len(old), :, : self.length] = old[:, :, : self.length]

    @staticmethod
    def _room(n_rows: int, ahead: int, *, like: Tensor) -> Tensor:
        _, n_kv_heads, _, head_width = like.shape
        return like.new_empty(n_rows, n_kv_heads, ahead, head_width)


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
        self._select([block.own for block in self.blocks], rows_B)
        if source:
            self._select([block.cross for block in self.blocks], rows_B)

    @staticmethod
    def _select(caches: list[KeyValueCache], rows_B: Tensor) -> None:
        if caches[0].length:
            lines_BK = caches[0].lines(rows_B)  # all blocks wrote alike
            for each in caches:
                each.follow(lines_BK)
