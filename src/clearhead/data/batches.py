"""Batches of records of like length, in an order that the seed and the epoch decide.

Takes: a token store, a budget of tokens, a seed.
Gives: the rows of one batch after another, without end, from any place on.
Uses:  config, errors, data.{cursor,origins,packing,store}; numpy.
Never: a state beside the Cursor; the same seed and epoch always make the same plan.

    draw     every record as often as its source's weight says
    sort     so that neighbours are of like length; equals by chance
    cut      as many records as fit: rows × (longest source + longest target) <= max_tokens
    deal     in an order that chance decides
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearhead.config.checks import require_size
from clearhead.data.cursor import START, Cursor, chance, check_seed
from clearhead.data.origins import checked_weights
from clearhead.data.packing import best_strip, cut, padded_tokens, sort_keys
from clearhead.data.store import TokenStore
from clearhead.errors import ConfigError, TextError

__all__ = ["Batches", "Plan"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The batches of one epoch.

    Attributes:
        rows: The records of all batches in one run.
        starts: Where each batch begins in it, and where the last one ends.
        order: Which batch comes when.
    """

    rows: NDArray[Any]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    def batch(self, place: int) -> NDArray[Any]:
        """The rows of the batch that comes at a place."""
        number = int(self.order[place])
        return self.rows[self.starts[number] : self.starts[number + 1]]


class Batches:
    """An endless stream of batches.

    Args:
        store: The records.
        max_tokens: The most tokens that a batch may have, padding included, over all fields. A single
            record that is longer is a batch of its own.
        seed: What orders them.
        weights: How often an epoch draws the records of each origin; every record once where this is None.
    """

    def __init__(
        self,
        *,
        store: TokenStore,
        max_tokens: int,
        seed: int,
        weights: Sequence[int | float] | None = None,
    ) -> None:
        require_size("max_tokens", max_tokens)
        check_seed(seed)
        if len(store) == 0:
            raise TextError("a token store without records", got=store.folder)
        self.store = store
        self.max_tokens = max_tokens
        self.seed = seed
        self._weights = checked_weights(store, weights)
        self._lengths = [store.lengths(name) for name in store.fields]
        self._strip = best_strip(self._lengths, max_tokens=max_tokens)
        self._last: tuple[int, Plan] | None = None

    def plan(self, epoch: int) -> Plan:
        """The batches of an epoch, worked out anew unless they are those of the last call."""
        if self._last is None or self._last[0] != epoch:
            self._last = None  # two plans at once would be twice the memory
            rows = self._sorted(self._drawn(epoch), epoch)
            starts = cut(self._lengths_of(rows), max_tokens=self.max_tokens)
            order = np.argsort(chance(len(starts) - 1, seed=self.seed, stream=epoch, step=3), kind="stable")
            self._last = (epoch, Plan(rows=rows, starts=starts, order=order))
        return self._last[1]

    def __iter__(self) -> Iterator[tuple[Cursor, NDArray[Any]]]:
        return self.from_cursor(START)

    def from_cursor(self, cursor: Cursor) -> Iterator[tuple[Cursor, NDArray[Any]]]:
        """The rows of each batch from a place on, each with the place to go on at after it."""
        epoch, step = cursor.epoch, cursor.batch
        if step > len(self.plan(epoch)):
            raise ConfigError("a place beyond the epoch", got=step, expected=f"at most {len(self.plan(epoch))} batches")
        while True:
            plan = self.plan(epoch)
            for place in range(step, len(plan)):
                done = place + 1 == len(plan)
                after = Cursor(epoch=epoch + 1, batch=0) if done else Cursor(epoch=epoch, batch=place + 1)
                yield after, plan.batch(place)
            epoch, step = epoch + 1, 0

    def one_epoch(self, epoch: int = 0) -> Iterator[NDArray[Any]]:
        """The rows of each batch of one epoch, and then an end: for evaluation."""
        plan = self.plan(epoch)
        return (plan.batch(place) for place in range(len(plan)))

    def padding_share(self, epoch: int = 0) -> float:
        """The part of an epoch's tokens that is padding."""
        plan = self.plan(epoch)
        lengths = self._lengths_of(plan.rows)
        padded = padded_tokens(lengths, plan.starts)
        return 1 - sum(int(each.sum(dtype=np.int64)) for each in lengths) / padded if padded else 0.0

    def _drawn(self, epoch: int) -> NDArray[Any]:
        """Every record as often as it is drawn; what is left of a weight beyond whole numbers is its chance."""
        rows = np.arange(len(self.store), dtype=np.int32 if len(self.store) < 2**31 else np.int64)
        if self._weights is None:
            return rows
        weights = self._weights[self.store.values("origin")]
        whole = np.floor(weights)
        dice = (chance(len(rows), seed=self.seed, stream=epoch, step=1) >> np.uint64(11)) * 2.0**-53
        drawn = np.repeat(rows, whole.astype(np.int64) + (dice < weights - whole))
        return drawn if len(drawn) else rows

    def _sorted(self, rows: NDArray[Any], epoch: int) -> NDArray[Any]:
        noise = chance(len(rows), seed=self.seed, stream=epoch, step=2)
        keys = sort_keys(self._lengths_of(rows), strip=self._strip, noise=noise)
        return rows[np.argsort(keys, kind="stable")]

    def _lengths_of(self, rows: NDArray[Any]) -> list[NDArray[np.int32]]:
        return [lengths[rows] for lengths in self._lengths]
