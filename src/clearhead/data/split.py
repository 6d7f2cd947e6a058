"""Which examples are held out to measure by, so that nothing that is measured was learned.

Takes: source texts.
Gives: on which side each falls.
Uses:  config, data.{hashes,record}.
Never: the same source on both sides, however often it occurs and with whatever target.

    held out  <=>  hash(normal form of the source, seed) / 2^53  <  share

The side depends on the text alone: not on its place in a file, nor on what else is there. Of similar texts either may
stand first, so that the smaller of two hashes decides. A share of a large corpus would be more than anybody needs, and
that of a small one less. So the hashes are looked through once, and the share is moved to just above the hash of the
last source that is wanted.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from clearhead.config.checks import require_positive, require_share, require_size, require_types
from clearhead.config.record import RECORD
from clearhead.data.hashes import MAX_SEED, hash_text, normal_form
from clearhead.data.record import Record, Task

__all__ = ["SmallestHashes", "Split", "is_held_out", "source_hash", "sources_of"]

_BITS = 53
"""As many as a float holds without rounding, so that a share can name any hash exactly."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """How much is held out.

    Attributes:
        share: The part of all sources.
        least: No fewer sources than this, unless that is more than `most_of_all`.
        most: No more than this.
        most_of_all: The part of all sources that `least` may take.
        seed: Another seed holds out others.
        tail: Whether the last part of all text is held out instead, as much of it as `share` says; for language models.
    """

    __pydantic_config__ = RECORD

    share: float = 0.01
    least: int = 100
    most: int = 2000
    most_of_all: float = 0.05
    seed: int = 0
    tail: bool = False

    def __post_init__(self) -> None:
        require_types(self)
        require_share("share", self.share)
        require_share("most_of_all", self.most_of_all)
        require_positive("share", self.share)
        require_size("least", self.least)
        require_size("most", self.most, least=self.least)
        require_size("seed", self.seed, least=0, most=MAX_SEED)


def sources_of(record: Record, task: Task) -> tuple[str, ...]:
    """The texts of a record that may be on one side only: its source, and both of a similar pair."""
    if task is Task.SIMILARITY and record.target is not None:
        return record.source, record.target
    return (record.source,)


def is_held_out(*source_texts: str, share: float, seed: int) -> bool:
    """Whether a record with these sources falls on the side that is measured by."""
    return _smallest(source_texts, seed=seed) < share * 2**_BITS


def source_hash(source_text: str, *, seed: int) -> int:
    """What a source's side is read from."""
    return hash_text(normal_form(source_text), seed=seed) >> (64 - _BITS)


def _smallest(source_texts: Iterable[str], *, seed: int) -> int:
    return min(source_hash(text, seed=seed) for text in source_texts)


class SmallestHashes:
    """The smallest hashes of all that pass, each once, and no more of them than a split can want."""

    def __init__(self, *, split: Split) -> None:
        self._split = split
        self._heap: list[int] = []  # negated: Python's heaps have the smallest on top, and the largest must go first
        self._members: set[int] = set()
        self.n_records = 0

    def add(self, *source_texts: str) -> None:
        """Look at the sources of one record."""
        self.n_records += 1
        number = _smallest(source_texts, seed=self._split.seed)
        full = len(self._heap) > self._split.most
        if number in self._members or (full and number >= -self._heap[0]):
            return
        self._members.add(number)
        if full:
            self._members.discard(-heapq.heappushpop(self._heap, -number))
        else:
            heapq.heappush(self._heap, -number)

    def share(self) -> float:
        """The share that holds out as many sources as the split wants, and never all of several."""
        split = self._split
        hashes = sorted(self._members)
        within = sum(number < split.share * 2**_BITS for number in hashes)
        n_sources = self._n_sources()
        least = max(1, min(split.least, int(n_sources * split.most_of_all)))
        wanted = min(max(within, least), split.most, max(1, n_sources - 1))
        return split.share if wanted == within else (hashes[wanted - 1] + 1) / 2**_BITS

    def _n_sources(self) -> int:
        """How many different sources passed."""
        kept = len(self._heap)
        if kept <= self._split.most:
            return kept
        # Not all were kept. Hashes spread evenly, so that the largest kept lies at `kept / all` of their range.
        return kept * 2**_BITS // (1 - self._heap[0])
