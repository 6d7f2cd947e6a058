"""From the pieces of a tape to one array a site: the steps of one text, end to end.

Attention's queries and keys grow by a position a step. Scores and patterns grow along both: what came later is
beyond what an early step saw, and stays empty.

Sites of several blocks that were kept together are put together at once, as one array of all of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np

from clearhead.config import Family
from clearhead.trace.sites import axes_of
from clearhead.trace.tape import Piece, Tape

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """The pieces of one site, or of several like ones, measured before they are put together.

    Attributes:
        sites: The sites.
        axes: The letters of the axes of each.
        shape: The shape of the whole of each.
        pieces: For each site, what the text itself passed, in order.
        rows: The row of the batch that the text had at each of its steps; None where the batch stays whole.
    """

    sites: tuple[str, ...]
    axes: str
    shape: tuple[int, ...]
    pieces: tuple[list[Piece], ...]
    rows: tuple[int, ...] | None

    @classmethod
    def of(cls, tape: Tape, sites: tuple[str, ...], *, family: Family, rows: Sequence[int] | None) -> "Assembly | None":
        """The measures of like sites; None where the text itself never passed them.

        Args:
            tape: What passed.
            sites: The sites, as `together` finds them.
            family: What kind of model it was.
            rows: The row of the batch at each step; steps beyond are those of other beams.
        """
        every = tape.pieces
        pieces = tuple(_kept(every[site], rows) for site in sites)
        if not pieces[0]:
            return None
        shapes = [piece.shape for piece in pieces[0]]
        axes = axes_of(sites[0], family=family, rank=len(shapes[0]))
        whole = [1 if rows is not None else shapes[0][0], *shapes[0][1:]]
        if len(shapes) > 1:
            along, keys = _growing(axes)
            whole[along] = sum(shape[along] for shape in shapes)
            if keys is not None:
                whole[keys] = max(shape[keys] for shape in shapes)
        places = None if rows is None else tuple(rows)
        return cls(sites=sites, axes=axes, shape=tuple(whole), pieces=pieces, rows=places)

    def put_together(self, value: Callable[[Piece, str], np.ndarray] = Piece.of) -> dict[str, np.ndarray]:
        """The values of the whole of each site.

        Args:
            value: Gives what a piece holds of a site.
        """
        several = list(zip(*self.pieces, strict=True))
        if len(several) == 1:
            return {
                site: np.ascontiguousarray(self._row(piece, value(piece, site)), dtype=np.float32)
                for site, piece in zip(self.sites, several[0], strict=True)
            }
        along, keys = _growing(self.axes)
        before = (slice(None),) * along
        empty = 0.0 if self.sites[0].endswith(".pattern") else np.nan
        every = np.full((len(self.sites), *self.shape), empty, dtype=np.float32)
        start = 0
        for pieces in several:  # one by one: pieces from the disk are never in memory all at once
            first = pieces[0]
            end = start + first.shape[along]
            where = (*before, slice(start, end), *(() if keys is None else (..., slice(first.shape[keys]))))
            if first.value is not None and first.sites == self.sites:
                every[(slice(None), *where)] = self._row(first, first.value, several=True)
            else:
                for values, site, piece in zip(every, self.sites, pieces, strict=True):
                    values[where] = self._row(piece, value(piece, site))
            start = end
        return dict(zip(self.sites, every, strict=True))

    def _row(self, piece: Piece, value: np.ndarray, *, several: bool = False) -> np.ndarray:
        if self.rows is None or piece.shape[0] == 1:  # before the first step, and at it, all beams are one row
            return value
        place = self.rows[piece.step] if piece.step >= 0 else 0
        return value[:, place : place + 1] if several else value[place : place + 1]


class Later(Mapping[str, Value]):
    """What is made when somebody first looks into it: a run is sooner over without.

    Args:
        make: Makes it.
    """

    def __init__(self, *, make: Callable[[], Mapping[str, Value]]) -> None:
        self._make: Callable[[], Mapping[str, Value]] | None = make
        self._found: Mapping[str, Value] = {}
        self._lock = Lock()

    def _made(self) -> Mapping[str, Value]:
        with self._lock:  # several may look into one trace
            if self._make is not None:
                self._found, self._make = self._make(), None
        return self._found

    def __getitem__(self, key: str) -> Value:
        return self._made()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


class Wholes(Mapping[str, np.ndarray]):
    """The values of all sites, each put together when it is first asked for: many a trace is looked at in a few places.

    Args:
        assemblies: The pieces of each site, in memory.
    """

    def __init__(self, *, assemblies: Mapping[str, Assembly]) -> None:
        self._sites = tuple(assemblies)
        self._waiting = dict(assemblies)
        self._found: dict[str, np.ndarray] = {}

    def __getitem__(self, site: str) -> np.ndarray:
        one = self._waiting.get(site)
        if one is not None:
            self._found |= one.put_together()
            for each in one.sites:  # only now: whoever reads beside us finds it here or there
                self._waiting.pop(each, None)
        return self._found[site]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sites)

    def __len__(self) -> int:
        return len(self._sites)


def assembled(tape: Tape, *, family: Family, rows: Sequence[int] | None) -> dict[str, Assembly]:
    """What the text itself passed, site by site in the order of the tape."""
    found = [Assembly.of(tape, sites, family=family, rows=rows) for sites in together(tape)]
    by_site = {site: one for one in found if one is not None for site in one.sites}
    return {site: by_site[site] for site in tape.kept if site in by_site}


def together(tape: Tape) -> list[tuple[str, ...]]:
    """All sites of a tape, those together that the last step kept together and that passed alike before it."""
    found: dict[int, list[str]] = {}
    lone: list[tuple[str, ...]] = []
    every = tape.pieces
    for site, pieces in every.items():
        last = pieces[-1]
        others = found.setdefault(id(last), []) if last.value is not None else None
        if others is None or (others and not _alike(every[others[0]], pieces)):
            lone.append((site,))
        else:
            others.append(site)
    return [*lone, *map(tuple, found.values())]


def _alike(some: Sequence[Piece], others: Sequence[Piece]) -> bool:
    """Whether two sites were passed at the same steps, by values of the same shapes."""
    if len(some) != len(others):
        return False
    return all(
        one is other or (one.step == other.step and one.shape == other.shape)
        for one, other in zip(some, others, strict=True)
    )


def _kept(pieces: Sequence[Piece], rows: Sequence[int] | None) -> list[Piece]:
    if rows is None or pieces[-1].step < len(rows):
        return list(pieces)
    return [piece for piece in pieces if piece.step < len(rows)]


def _growing(axes: str) -> tuple[int, int | None]:
    """The axis along which steps follow one another, and the axis of keys where that is another."""
    along = next(axes.index(letter) for letter in "QTSKB" if letter in axes)
    keys = axes.index("K") if "K" in axes and axes[along] != "K" else None
    assert keys in (None, len(axes) - 1), "keys are the last axis"
    return along, keys
