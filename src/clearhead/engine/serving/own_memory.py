"""What rows remember of their own texts: keys and values of all layers, aligned where they end.

    columns   0 ......... first ............... end ......... capacity
    row 0                   k  k  k  k  k  k  k |
    row 1                   0  0  0  0  k  k  k |   spare columns, written step by step
    row 2                   0  0  k  k  k  k  k |

Every row ends at the same column, so that a step writes one column for all. A row that joins is copied to
where it ends with the others; when the longest leaves, the view becomes narrower and nothing moves. Only where the
columns run out, or a longer text joins than there is room for, is everything copied to a new place.

Columns before a row's text are closed to it, but they are multiplied by 0, and what they hold must be a number: they
are zeros.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

_LEAST_ROWS = 4
_LEAST_SPARE = 64


class OwnMemory:
    """The keys and values of a batch that rows join and leave."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self._end = 0
        self._both: tuple[Tensor, Tensor] | None = None

    @property
    def width(self) -> int:
        """Positions of the longest row."""
        return max(self.lengths, default=0)

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        return 0 if self._both is None else self._both[0].shape[1] * self._both[0].shape[3]

    def put(self, key_LBGKC: Float[Tensor, "L B G K C"], value_LBGKC: Float[Tensor, "L B G K C"]) -> None:
        """Adds rows of one length behind the others."""
        n_rows, n_new, length = len(self.lengths), key_LBGKC.shape[1], key_LBGKC.shape[3]
        old, new = self.width, max(self.width, length)
        self._make_room(n_rows + n_new, new, like=key_LBGKC)
        assert self._both is not None
        end = self._end
        for stored, added in zip(self._both, (key_LBGKC, value_LBGKC), strict=True):
            stored[:, :n_rows, :, end - new : end - old] = 0
            rows = stored[:, n_rows : n_rows + n_new]
            rows[:, :, :, end - new : end - length] = 0
            rows[:, :, :, end - length : end] = added
        self.lengths += [length] * n_new

    def take(self, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """A copy of rows that are of one length."""
        assert self._both is not None
        length = self.lengths[rows[0]]
        places = torch.tensor(rows)
        key, value = (stored[:, :, :, self._end - length : self._end].index_select(1, places) for stored in self._both)
        return key, value

    def keep(self, origins: Sequence[int]) -> None:
        """Goes on with rows from these places; only those that change places are copied."""
        if not origins:
            self.lengths, self._both, self._end = [], None, 0
            return
        assert self._both is not None
        moved = [(place, origin) for place, origin in enumerate(origins) if place != origin]
        self._make_room(len(origins), self.width, like=self._both[0])
        self.lengths = [self.lengths[origin] for origin in origins]
        if moved:
            to, origin = torch.tensor(moved).unbind(1)
            for stored in self._both:
                part = stored[:, :, :, self._end - self.width : self._end]
                part.index_copy_(1, to, part.index_select(1, origin))
        if self._both[0].shape[1] >= 4 * max(_LEAST_ROWS, len(origins)):
            self._move(rows=len(origins), width=self.width, like=self._both[0])

    def open_step(self) -> None:
        """Makes sure of a column to write."""
        assert self._both is not None
        if self._end == self._both[0].shape[3]:
            self._move(rows=len(self.lengths), width=self.width, like=self._both[0])

    def write(self, layer: int, key_BGKC: Tensor, value_BGKC: Tensor) -> tuple[Tensor, Tensor]:
        """Writes the next column of a layer; gives all columns with it."""
        assert self._both is not None
        end, n_rows = self._end, len(self.lengths)
        key, value = self._both[0][layer, :n_rows], self._both[1][layer, :n_rows]
        key[:, :, end : end + 1] = key_BGKC
        value[:, :, end : end + 1] = value_BGKC
        first = end - self.width
        return key[:, :, first : end + 1], value[:, :, first : end + 1]

    def open(self, layer: int) -> tuple[Tensor, Tensor]:
        """All columns of a layer with the next one, which is still to be written."""
        assert self._both is not None
        where = slice(self._end - self.width, self._end + 1)
        key, value = (stored[layer, : len(self.lengths), :, where] for stored in self._both)
        return key, value

    def close_step(self) -> None:
        """Counts the column that was written in every layer."""
        self._end += 1
        self.lengths = [length + 1 for length in self.lengths]

    def _make_room(self, rows: int, width: int, *, like: Tensor) -> None:
        if self._both is None or rows > self._both[0].shape[1] or width > self._end:
            self._move(rows=rows, width=width, like=like)

    def _move(self, *, rows: int, width: int, like: Tensor) -> None:
        """Takes new memory for so many rows, ending after `width` columns, with spare ones behind."""
        held = _LEAST_ROWS if self._both is None else self._both[0].shape[1]
        n_rows = held if rows <= held < 4 * max(_LEAST_ROWS, rows) else max(_LEAST_ROWS, 1 << (rows - 1).bit_length())
        n_layers, _, n_kv_heads, _, head_width = like.shape
        shape = (n_layers, n_rows, n_kv_heads, width + max(_LEAST_SPARE, width // 2), head_width)
        made = (like.new_empty(shape), like.new_empty(shape))
        if self._both is not None:
            old = self.width
            for after, before in zip(made, self._both, strict=True):
                kept = before[:, : len(self.lengths), :, self._end - old : self._end]
                after[:, : len(self.lengths), :, width - old : width] = kept
        self._both, self._end = made, width
