"""Which examples are held out to measure by, so that nothing that is measured was learned.

Takes: source texts.
Gives: on which side each falls.
Uses:  config, data.hashes.
Never: the same source on both sides, however often it occurs and with whatever target.

    held out  <=>  hash(normal form of the source, seed) / 2^53  <  share

The side depends on the text alone: not on its place in a file, nor on what else is there. A share of a large corpus
would be more than anybody needs, and that of a small one less. So the hashes are looked through once, and the share
is moved to just above the hash of the last source that is wanted. Then it is the share that the run keeps.
"""

import heapq
from dataclasses import dataclass

from clearhead.config.checks import require_positive, require_share, require_size, require_types
from clearhead.config.record import RECORD
from clearhead.data.hashes import hash_text, normal_form

__all__ = ["SmallestHashes", "Split", "is_held_out", "source_hash"]

_BITS = 53
"""As many as a float holds without rounding, so that a share can name any hash exactly."""

MAX_SEED = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Split:
    """How much is held out.

    Attributes:
        share: The part of all sources.
        least: No fewer than this, unless that is more than `most_of_all`.
        most: No more than this.
        most_of_all: The part of all records that `least` may take.
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


def is_held_out(source_text: str, *, share: float, seed: int) -> bool:
    """Whether a text falls on the side that is measured by."""
    return source_hash(source_text, seed=seed) < share * 2**_BITS


def source_hash(source_text: str, *, seed: int) -> int:
    """What a source's side is read from."""
    return hash_text(normal_form(source_text), seed=seed) >> (64 - _BITS)


class SmallestHashes:
    """The smallest hashes of all that pass, each once, and no more of them than a split can want."""

    def __init__(self, *, split: Split) -> None:
        self._split = split
        self._heap: list[int] = []  # negated: Python's heaps have the smallest on top, and the largest must go first
        self._members: set[int] = set()
        self.n_records = 0

    def add(self, source_text: str) -> None:
        """Look at one source."""
        self.n_records += 1
        number = source_hash(source_text, seed=self._split.seed)
        full = len(self._heap) > self._split.most
        if number in self._members or (full and number >= -self._heap[0]):
            return
        self._members.add(number)
        if full:
            self._members.discard(-heapq.heappushpop(self._heap, -number))
        else:
            heapq.heappush(self._heap, -number)

    def share(self) -> float:
        """The share that holds out as many sources as the split wants."""
        split = self._split
        hashes = sorted(self._members)
        within = sum(number < split.share * 2**_BITS for number in hashes)
        least = max(1, min(split.least, int(self.n_records * split.most_of_all)))
        wanted = min(max(within, least), split.most, len(hashes))
        return split.share if wanted == within else (hashes[wanted - 1] + 1) / 2**_BITS
