"""The likeliest ids of every row: all that a beam search needs to know of a vocabulary."""

from collections.abc import Callable
from dataclasses import dataclass

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

    def of(self, first: int, end: int) -> "Leaders":
        """Those of some rows."""
        return Leaders(log_p=self.log_p[first:end], ids=self.ids[first:end])


Lead = Callable[[Tensor, int], Leaders]


def leading(logits_BV: Float[Tensor, "B V"], count: int) -> Leaders:
    """The likeliest ids of every row of logits."""
    return likeliest(logits_BV.log_softmax(-1), count)


def likeliest(log_p_BV: Float[Tensor, "B V"], count: int) -> Leaders:
    """The likeliest ids of every row of log-probabilities."""
    found = log_p_BV.topk(min(count, log_p_BV.shape[1]))
    return Leaders(log_p=found.values.numpy(force=True), ids=found.indices.numpy(force=True))
