"""Which records go together, so that little of a batch is padding.

Takes: the lengths of records, one array for each field.
Gives: an order in which neighbours are alike, and where to cut it.
Uses:  numpy.
Never: chance of its own.

With one field, sorting does it. With two, a batch is a tile in the plane of source and target lengths. Sorted by source
and then by target, tiles are one source length wide: right for a large corpus, and far too tall for a small one, whose
batches then hold targets of every length. So the sources are taken in strips of some width, or the longer of the two
lengths leads; whichever wastes least.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BY_LONGER", "best_strip", "cut", "padded_tokens", "sort_keys"]

Lengths = Sequence[NDArray[np.int32]]

BY_LONGER = 0
"""Stands for a strip where the longer of the two lengths leads."""

_STRIPS = (1, 2, 3, 4, 6, 8, BY_LONGER)
_LARGE = 200_000
"""With more records than this, the narrowest strip is always good enough, and trying the others would take long."""

_LENGTH_BITS = 20
_NOISE_BITS = 24
_LONGEST = 2**_LENGTH_BITS - 1


def sort_keys(lengths: Lengths, *, strip: int, noise: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that sort records: strip, then second length, then chance."""
    first, second = (np.minimum(each, _LONGEST) for each in (lengths[0], lengths[-1]))
    leading = np.maximum(first, second) if strip == BY_LONGER else first // strip
    # Down in every other strip, so that the longest of one meet the longest of the next.
    following = np.where(leading % 2 == 1, _LONGEST - second, second)
    keys = noise >> np.uint64(64 - _NOISE_BITS)
    for part, bits in ((following, _NOISE_BITS), (leading, _LENGTH_BITS + _NOISE_BITS)):
        wide = part.astype(np.uint64)
        wide <<= np.uint64(bits)
        keys |= wide
    return keys


def cut(lengths: Lengths, *, max_tokens: int) -> NDArray[np.int64]:
    """Where batches start in records that are in order; each takes as many as the budget allows, and at least one."""
    n_records = len(lengths[0])
    starts = [0]
    while (start := starts[-1]) < n_records:
        least = max(1, sum(int(each[start]) for each in lengths))
        end = min(n_records, start + max(1, max_tokens // least))
        width = sum((np.maximum.accumulate(each[start:end]) for each in lengths), np.zeros(end - start, np.int64))
        cost = width * np.arange(1, end - start + 1)
        starts.append(start + max(1, int(np.searchsorted(cost, max_tokens, side="right"))))
    return np.array(starts, np.int64)


def padded_tokens(lengths: Lengths, starts: NDArray[np.int64]) -> int:
    """How many tokens batches have, padding included."""
    sizes = np.diff(starts)
    return sum(int((np.maximum.reduceat(each, starts[:-1]) * sizes).sum()) for each in lengths)


def best_strip(lengths: Lengths, *, max_tokens: int) -> int:
    """The strip that wastes least on these records."""
    if len(lengths) < 2 or len(lengths[0]) > _LARGE:
        return _STRIPS[0]
    quiet = np.zeros(len(lengths[0]), np.uint64)

    def waste(strip: int) -> int:
        order = np.argsort(sort_keys(lengths, strip=strip, noise=quiet), kind="stable")
        ordered = [each[order] for each in lengths]
        return padded_tokens(ordered, cut(ordered, max_tokens=max_tokens))

    return min(_STRIPS, key=waste)
