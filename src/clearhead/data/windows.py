"""Windows of running text, for language models.

Takes: a token store whose records follow one another.
Gives: batches of windows at random places, without end, from any place on; or all windows once, in order.
Uses:  config, errors, data.{cursor,origins,store}; numpy.
Never: a state beside the Cursor; where a window starts depends on the seed, its step and its row alone.

A window is one longer than what the model reads: each id but the last is read, each but the first is to be foretold.
With weights, chance first chooses a source, by its weight and the length of its text, and then a place in it. An epoch
is longer or shorter by as much.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64
from numpy.typing import NDArray

from clearhead.config.checks import require_size
from clearhead.data.cursor import START, Cursor, chance, check_seed
from clearhead.data.origins import checked_weights
from clearhead.data.store import TokenStore
from clearhead.errors import TextError

__all__ = ["Windows"]

_STREAM = 2**63
"""Apart from the numbers of epochs, so that no other part draws the same chance."""


@dataclass(frozen=True, kw_only=True)
class _Runs:
    """Stretches of text, each from one source, and how often windows are drawn from them.

    Attributes:
        first: Where a window of each may begin at the earliest.
        n_places: At how many places it may begin, so that it lies in the stretch if it fits there.
        read: How many ids an epoch reads of each and of all before it.
    """

    first: NDArray[np.int64]
    n_places: NDArray[np.int64]
    read: NDArray[np.float64]


class Windows:
    """An endless stream of batches of windows.

    Args:
        store: Records, each ended by its own end id, read as one long text.
        length: How many ids the model reads at once.
        n_rows: Windows in a batch.
        seed: What places them.
        weights: How often an epoch reads the text of each origin; all of it once where this is None.
        field: Whose ids.
    """

    def __init__(
        self,
        *,
        store: TokenStore,
        length: int,
        n_rows: int,
        seed: int,
        weights: Sequence[int | float] | None = None,
        field: str = "text",
    ) -> None:
        require_size("length", length)
        require_size("n_rows", n_rows)
        check_seed(seed)
        self.store = store
        self.length = length
        self.n_rows = n_rows
        self.seed = seed
        self._stream = store.stream(field)
        if len(self._stream) <= length:
            raise TextError(
                "a text that is shorter than one window",
                got=f"{store.folder}: {len(self._stream)} tokens",
                expected=f"at least {length + 1}",
                advice="more text, or a shorter length",
            )
        weighed = checked_weights(store, weights)
        self._runs = None if weighed is None else _runs(store, field, weighed, length)

    def __iter__(self) -> Iterator[tuple[Cursor, Int64[np.ndarray, "B T"]]]:
        return self.from_cursor(START)

    def from_cursor(self, cursor: Cursor) -> Iterator[tuple[Cursor, Int64[np.ndarray, "B T"]]]:
        """The windows of each batch from a place on, each with the place to go on at after it."""
        per_epoch = self.steps_per_epoch()
        step = cursor.epoch * per_epoch + cursor.batch
        while True:
            step += 1
            yield Cursor(epoch=step // per_epoch, batch=step % per_epoch), self.batch(step - 1)

    def batch(self, step: int) -> Int64[np.ndarray, "B T"]:
        """The windows of a step, counted through all epochs."""
        dice = chance(self.n_rows, seed=self.seed, stream=_STREAM, step=step)
        return self._take(self._starts(dice), self.length + 1)

    def sequential(self) -> Iterator[Int64[np.ndarray, "B T"]]:
        """All windows once and in order, so that every id but the very first is foretold once: for evaluation.

        The last batch is one window, shorter than the others, where the text does not divide evenly.
        """
        n_foretold = len(self._stream) - 1
        n_whole = n_foretold // self.length
        for first in range(0, n_whole, self.n_rows):
            places = np.arange(first, min(first + self.n_rows, n_whole), dtype=np.int64)
            yield self._take(places * self.length, self.length + 1)
        if rest := n_foretold % self.length:
            yield self._take(np.array([n_whole * self.length], np.int64), rest + 1)

    def steps_per_epoch(self) -> int:
        """How many batches there are until as many ids were read as there are."""
        n_ids = len(self._stream) if self._runs is None else int(self._runs.read[-1])
        return max(1, (n_ids - 1) // (self.length * self.n_rows))

    def _starts(self, dice: NDArray[np.uint64]) -> NDArray[np.int64]:
        if self._runs is None:
            return (dice % np.uint64(len(self._stream) - self.length)).astype(np.int64)
        first, n_places, read = self._runs.first, self._runs.n_places, self._runs.read
        drawn: NDArray[np.float64] = (dice >> np.uint64(11)) * 2.0**-53 * read[-1]
        run = np.minimum(np.searchsorted(read, drawn, side="right"), len(read) - 1)  # a product may round up
        return first[run] + (dice % n_places[run].astype(np.uint64)).astype(np.int64)

    def _take(self, starts: NDArray[np.int64], width: int) -> Int64[np.ndarray, "B T"]:
        return self._stream[starts[:, None] + np.arange(width)].astype(np.int64)


def _runs(store: TokenStore, field: str, weights: NDArray[np.float64], length: int) -> _Runs:
    origins = store.values("origin")
    ends = np.cumsum(store.lengths(field), dtype=np.int64)
    records = np.concatenate([[0], np.flatnonzero(np.diff(origins)) + 1])
    starts = np.concatenate([[0], ends])[records]
    stops = np.append(starts[1:], ends[-1])
    first = np.minimum(starts, ends[-1] - length - 1)
    return _Runs(
        first=first,
        n_places=np.maximum(1, stops - length - first),
        read=np.cumsum((stops - starts) * weights[origins[records]]),
    )
