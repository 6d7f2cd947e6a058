"""From the pieces of a tape to one array a site: the steps of one text, end to end.

Attention's queries and keys grow by a position a step. Scores and patterns grow along both: what came later is
beyond what an early step saw, and stays empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearhead.config import Family
from clearhead.trace.sites import axes_of
from clearhead.trace.tape import Piece, Tape


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """One site's pieces, measured before they are put together.

    Attributes:
        site: The site.
        axes: The letters of its axes.
        shape: The shape of the whole.
        pieces: What the text itself passed, in order.
        rows: The row of the batch that the text had at each of its steps; None where the batch stays whole.
    """

    site: str
    axes: str
    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]
    rows: tuple[int, ...] | None

    @classmethod
    def of(cls, tape: Tape, site: str, *, family: Family, rows: Sequence[int] | None) -> "Assembly | None":
        """The measures of a site; None where the text itself never passed it.

        Args:
            tape: What passed.
            site: The site.
            family: What kind of model it was.
            rows: The row of the batch at each step; steps beyond are those of other beams.
        """
        kept = [piece for piece in tape.pieces[site] if rows is None or piece.step < len(rows)]
        if not kept:
            return None
        shapes = [piece.shape for piece in kept]
        axes = axes_of(site, family=family, rank=len(shapes[0]))
        whole = [1 if rows is not None else shapes[0][0], *shapes[0][1:]]
        if len(kept) > 1:
            along, keys = _growing(axes)
            whole[along] = sum(shape[along] for shape in shapes)
            if keys is not None:
                whole[keys] = max(shape[keys] for shape in shapes)
        every = None if rows is None else tuple(rows)
        return cls(site=site, axes=axes, shape=tuple(whole), pieces=tuple(kept), rows=every)

    def put_together(self, tape: Tape) -> np.ndarray:
        """The values of the whole."""
        if len(self.pieces) == 1:
            return np.ascontiguousarray(self._row(tape, self.pieces[0]), dtype=np.float32)
        along, keys = _growing(self.axes)
        before = (slice(None),) * along
        values = np.full(self.shape, 0.0 if self.site.endswith(".pattern") else np.nan, dtype=np.float32)
        start = 0
        for piece in self.pieces:  # one by one: pieces from the disk are never in memory all at once
            end = start + piece.shape[along]
            seen = () if keys is None else (..., slice(piece.shape[keys]))
            values[(*before, slice(start, end), *seen)] = self._row(tape, piece)
            start = end
        return values

    def _row(self, tape: Tape, piece: Piece) -> np.ndarray:
        value = tape.value(piece)
        if self.rows is None or piece.shape[0] == 1:  # before the first step, and at it, all beams are one row
            return value
        place = self.rows[piece.step] if piece.step >= 0 else 0
        return value[place : place + 1]


def _growing(axes: str) -> tuple[int, int | None]:
    """The axis along which steps follow one another, and the axis of keys where that is another."""
    along = next(axes.index(letter) for letter in "QTSKB" if letter in axes)
    keys = axes.index("K") if "K" in axes and axes[along] != "K" else None
    assert keys in (None, len(axes) - 1), "keys are the last axis"
    return along, keys
