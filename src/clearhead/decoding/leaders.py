"""The likeliest ids of every row: all that a beam search needs to know of a vocabulary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Leaders:
    """The likeliest ids of some rows, in falling order.

    Attributes:
        log_p: Their log-probabilities, a row for each row of logits; arrays, which make less ado of few numbers.
        ids: The ids.
    """

    log_p: np.ndarray
    ids: np.ndarray

    def without(self, forbidden: Sequence[int], count: int) -> "Leaders":
        """As many of the others as are asked for, or as there are; then the forbidden ones, which are impossible."""
        out: np.ndarray = np.isin(self.ids, forbidden)
        order = np.argsort(out, axis=1, kind="stable")[:, :count]
        log_p = np.where(out, self.log_p.dtype.type(-np.inf), self.log_p)
        log_p[np.isnan(self.log_p).any(1)] = np.nan
        return Leaders(log_p=np.take_along_axis(log_p, order, 1), ids=np.take_along_axis(self.ids, order, 1))


class Ranking(NamedTuple):
    """The likeliest candidates of one search, in falling order.

    Attributes:
        totals: The sums of their log-probabilities; the first is no number where one of the logits was none.
        parents: The rows that they go on with, counted from the first of the search.
        ids: The ids that they add.
    """

    totals: list[float]
    parents: list[int]
    ids: list[int]


Lead = Callable[[Tensor, int], Leaders]


def leading(logits_BV: Float[Tensor, "B V"], count: int) -> Leaders:
    """The likeliest ids of every row of logits."""
    return likeliest(logits_BV.log_softmax(-1), count)


def likeliest(log_p_BV: Float[Tensor, "B V"], count: int) -> Leaders:
    """The likeliest ids of every row of log-probabilities."""
    found = log_p_BV.topk(min(count, log_p_BV.shape[1]))
    return Leaders(log_p=found.values.numpy(force=True), ids=found.indices.numpy(force=True))


def rank(leaders: Leaders, totals: Sequence[float], widths: Sequence[int], count: int) -> list[Ranking]:
    """The likeliest candidates of several searches, whose rows follow one another.

    Args:
        leaders: The likeliest ids of all rows.
        totals: What the log-probabilities of each row's text sum up to so far.
        widths: How many rows each search has.
        count: Candidates of a search that are looked at.
    """
    n_each: int = leaders.log_p.shape[1]
    sums = leaders.log_p + np.array(totals, dtype=leaders.log_p.dtype)[:, None]
    found: list[Ranking] = []
    first = 0
    for width, alike in groupby(widths):  # searches with as many rows are ranked at once
        n_searches = len(list(alike))
        end = first + n_searches * width
        candidates = sums[first:end].reshape(n_searches, -1)
        candidates[np.isnan(candidates).any(1)] = np.nan
        order = np.argsort(-candidates, axis=1, kind="stable")[:, :count]
        best = np.take_along_axis(candidates, order, 1).tolist()
        ids = np.take_along_axis(leaders.ids[first:end].reshape(n_searches, -1), order, 1).tolist()
        found += map(Ranking, best, (order // n_each).tolist(), ids)
        first = end
    return found
