"""The likeliest ids of every row: all that a beam search needs to know of a vocabulary."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Leaders:
    """The likeliest ids of some rows, in falling order.

    Attributes:
        log_p: Their log-probabilities, a row for each row of logits.
        ids: The ids.
    """

    log_p: Tensor
    ids: Tensor

    def of(self, first: int, end: int) -> "Leaders":
        """Those of some rows."""
        return Leaders(log_p=self.log_p[first:end], ids=self.ids[first:end])


Lead = Callable[[Tensor, int], Leaders]


def leading(logits_BV: Float[Tensor, "B V"], count: int) -> Leaders:
    """The likeliest ids of every row of logits."""
    found = logits_BV.log_softmax(-1).topk(min(count, logits_BV.shape[1]))
    return Leaders(log_p=found.values, ids=found.indices)
