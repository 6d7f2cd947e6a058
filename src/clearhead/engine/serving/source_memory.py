"""What rows remember of their sources: keys and values for cross-attention, aligned where they begin.

Beams of one search have one source: a row that changes places among them copies nothing.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

_LEAST_ROWS = 4


class SourceMemory:
    """The sources of a batch that rows join and leave."""

    def __init__(self) -> None:
        self._lengths: list[int] = []
        self._names: list[int] = []
        self._n_named = 0
        self._both: tuple[Tensor, Tensor] | None = None
        self.mask_BS: Bool[Tensor, "B S"] | None = None

    @property
    def width(self) -> int:
        """Positions of the longest source."""
        return max(self._lengths, default=0)

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        return 0 if self._both is None else self._both[0].shape[1] * self._both[0].shape[3]

    def put(
        self, key_LBGSC: Float[Tensor, "L 1 G S C"], value_LBGSC: Float[Tensor, "L 1 G S C"], *, n_rows: int
    ) -> None:
        """Adds rows that share a source behind the others."""
        first, length = len(self._lengths), key_LBGSC.shape[3]
        self._make_room(first + n_rows, max(self.width, length), like=key_LBGSC)
        assert self._both is not None
        for stored, added in zip(self._both, (key_LBGSC, value_LBGSC), strict=True):
            rows = stored[:, first : first + n_rows]
            rows[:, :, :, :length] = added
            rows[:, :, :, length:] = 0  # closed, but multiplied
        self._lengths += [length] * n_rows
        self._names += [self._n_named] * n_rows
        self._n_named += 1
        self._mask()

    def take(self, row: int) -> tuple[Tensor, Tensor]:
        """A copy of the source of a row."""
        assert self._both is not None
        length = self._lengths[row]
        key, value = (stored[:, row : row + 1, :, :length].clone() for stored in self._both)
        return key, value

    def keep(self, origins: Sequence[int]) -> None:
        """Goes on with the sources of rows from these places."""
        if not origins:
            self._lengths, self._names, self._both, self.mask_BS = [], [], None, None
            return
        assert self._both is not None
        n_rows, names = len(self._names), self._names
        self._make_room(len(origins), self.width, like=self._both[0])
        moved = [
            (place, origin) for place, origin in enumerate(origins) if place >= n_rows or names[place] != names[origin]
        ]
        self._lengths = [self._lengths[origin] for origin in origins]
        self._names = [names[origin] for origin in origins]
        if moved:
            to, origin = torch.tensor(moved).unbind(1)
            for stored in self._both:
                stored.index_copy_(1, to, stored.index_select(1, origin))
        _, held, _, columns, _ = self._both[0].shape
        if held >= 4 * max(_LEAST_ROWS, len(origins)) or columns > 4 * self.width:
            self._move(rows=len(origins), width=self.width, like=self._both[0])
        if moved or len(origins) != n_rows:
            self._mask()

    def of(self, layer: int) -> tuple[Tensor, Tensor]:
        """The keys and values of a layer."""
        assert self._both is not None
        n_rows, width = len(self._lengths), self.width
        return self._both[0][layer, :n_rows, :, :width], self._both[1][layer, :n_rows, :, :width]

    def _mask(self) -> None:
        width = self.width
        even = all(length == width for length in self._lengths)
        lengths_B1 = torch.tensor(self._lengths).unsqueeze(1)
        self.mask_BS = None if even else torch.arange(width) < lengths_B1

    def _make_room(self, rows: int, width: int, *, like: Tensor) -> None:
        if self._both is None or rows > self._both[0].shape[1] or width > self._both[0].shape[3]:
            self._move(rows=rows, width=width, like=like)

    def _move(self, *, rows: int, width: int, like: Tensor) -> None:
        held = _LEAST_ROWS if self._both is None else self._both[0].shape[1]
        n_rows = held if rows <= held < 4 * max(_LEAST_ROWS, rows) else max(_LEAST_ROWS, 1 << (rows - 1).bit_length())
        n_layers, _, n_kv_heads, _, head_width = like.shape
        made = tuple(like.new_zeros(n_layers, n_rows, n_kv_heads, width, head_width) for _ in range(2))
        if self._both is not None:
            n_kept, old = len(self._lengths), min(width, self.width)
            for after, before in zip(made, self._both, strict=True):
                after[:, :n_kept, :, :old] = before[:, :n_kept, :, :old]
        self._both = (made[0], made[1])
