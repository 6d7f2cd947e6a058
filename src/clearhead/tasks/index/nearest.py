"""Exact search: the rows of a large matrix whose cosine with a query is greatest.

Takes: queries of length one; blocks of rows of length one.
Gives: the best rows of each query with their cosines; of equal ones the lower row first.
Uses:  errors; numpy.
Never: more memory than a block and its scores; an answer that depends on how rows fall into blocks.

    score = Q Kᵀ        as in attention, without the softmax

A matrix product in single precision adds up in an order that depends on a row's place, so that two equal rows may
score unequally in their last bits. It therefore only proposes; what it proposes is scored again in double precision,
each row by itself.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Float64, Int

from clearhead.errors import WeightsError

__all__ = ["Best", "nearest_rows", "unit_rows"]

_ROUNDING = 2.0**-24
_MOST_RESCORED = 4096
_LENGTH_TOLERANCE = 1e-3
_QUERIES_AT_ONCE = 256


class Best(NamedTuple):
    """The best rows of one query so far, the best first."""

    scores: Float64[np.ndarray, " K"]
    rows: Int[np.ndarray, " K"]


Block = tuple[int, Float32[np.ndarray, "K D"]]


def unit_rows(vector_KD: np.ndarray) -> Float32[np.ndarray, "K D"]:
    """Rows with their lengths made one; a row of zeros stays, and is like nothing: its cosines are zero."""
    wide_KD = np.asarray(vector_KD, np.float64)
    # By the largest number first, so that no square overflows or vanishes.
    largest_K1 = np.abs(wide_KD).max(axis=1, keepdims=True, initial=0)
    scaled_KD = wide_KD / np.where(largest_K1 > 0, largest_K1, 1)
    length_K1 = np.sqrt(np.square(scaled_KD).sum(axis=1, keepdims=True))
    return (scaled_KD / np.where(length_K1 > 0, length_K1, 1)).astype(np.float32)


def nearest_rows(query_QD: Float32[np.ndarray, "Q D"], blocks: Iterable[Block], *, n: int) -> list[Best]:
    """The `n` best rows of each query, fewer where there are fewer rows.

    Args:
        query_QD: Of length one each.
        blocks: The rows in order, each block with the number of its first.
        n: How many.

    Raises:
        WeightsError: The rows are not of length one.
    """
    best = [Best(np.zeros(0), np.zeros(0, np.int64)) for _ in query_QD]
    for first, key_KD in blocks:
        for start in range(0, len(query_QD), _QUERIES_AT_ONCE):
            some_QD = query_QD[start : start + _QUERIES_AT_ONCE]
            with np.errstate(all="ignore"):  # what is not finite is refused next
                score_QK = some_QD @ key_KD.T
            # Turned round so that NaN, which is not less than anything, is refused too.
            if not (np.abs(score_QK) <= 1 + _LENGTH_TOLERANCE).all():
                raise WeightsError(
                    "vectors in an index that are not of length one",
                    got=f"rows {first} to {first + len(key_KD) - 1}",
                    advice="build the index again; it is damaged",
                )
            for query, score_K in enumerate(score_QK, start):
                best[query] = _improved(best[query], query_QD[query], (first, key_KD), score_K, n=n)
    return best


def _improved(
    best: Best, query_D: Float32[np.ndarray, " D"], block: Block, score_K: Float32[np.ndarray, " K"], *, n: int
) -> Best:
    """The best rows after one more block, of which single precision gave the scores."""
    first, key_KD = block
    # Each of the sum's terms may be rounded once, so single precision is off by no more than this.
    margin = _ROUNDING * (len(query_D) + 1)
    floor = best.scores[-1] if len(best.scores) == n else -np.inf
    proposed = np.flatnonzero(score_K >= floor - margin)
    if len(proposed) > n:
        # The n-th proposal and its rival may be off in opposite directions.
        floor = np.partition(score_K[proposed], -n)[-n] - margin
        proposed = proposed[score_K[proposed] >= floor - margin]
    for part in _parts(proposed):
        # Products of single-precision numbers are exact in double precision, and a row's sum is its own.
        exact_K = (key_KD[part].astype(np.float64) * query_D.astype(np.float64)).sum(axis=1)
        scores_K = np.concatenate([best.scores, exact_K])
        rows = np.concatenate([best.rows, part + first])
        order = np.lexsort((rows, -scores_K))[:n]
        best = Best(scores_K[order], rows[order])
    return best


def _parts(rows: Int[np.ndarray, " K"]) -> Iterator[Int[np.ndarray, " K"]]:
    for start in range(0, len(rows), _MOST_RESCORED):
        yield rows[start : start + _MOST_RESCORED]
