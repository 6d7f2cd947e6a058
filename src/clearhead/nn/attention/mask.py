"""Masks: which query may look at which key."""

from collections.abc import Collection
from functools import cached_property

import torch
from jaxtyping import Bool, Float
from torch import Tensor


class AttentionMask:
    """Which query may look at which key: all, only the past, no padding, or both.

    The queries are the last of the positions: with a cache there are more keys than queries.

    Args:
        n_queries: Query positions.
        n_keys: Key positions.
        causal: Whether a query sees only keys up to its own position.
        window: How far back a causal query sees, itself included; None for all the way.
        keys: True where a key is real, False where it is padding; None if all are real.
        device: Where the queries and keys are.
    """

    def __init__(
        self,
        *,
        n_queries: int,
        n_keys: int,
        causal: bool = False,
        window: int | None = None,
        keys: Bool[Tensor, "B K"] | None = None,
        device: torch.device | None = None,
    ) -> None:
        self.n_queries = n_queries
        self.n_keys = n_keys
        self.window = window if window is not None and window < n_keys else None
        # One query at the end of its past sees all of it, unless a window ends before.
        self.causal = causal and (n_queries > 1 or self.window is not None)
        self.keys = keys
        self.device = device
        self._biased: tuple[Tensor, Tensor] | None = None

    def without_order(self) -> "AttentionMask":
        """The same mask with the future open."""
        return AttentionMask(n_queries=self.n_queries, n_keys=self.n_keys, keys=self.keys, device=self.device)

    def without_keys(self, places: Collection[int]) -> "AttentionMask":
        """The same mask with some keys closed to every query; a place counts among the real keys of its row."""
        real_BK = torch.ones(1, self.n_keys, dtype=torch.bool, device=self.device) if self.keys is None else self.keys
        order_BK = real_BK.long().cumsum(-1) - 1
        real_BK = real_BK & ~torch.isin(order_BK, torch.tensor(list(places), device=order_BK.device))
        return AttentionMask(
            n_queries=self.n_queries,
            n_keys=self.n_keys,
            causal=self.causal,
            window=self.window,
            keys=real_BK,
            device=self.device,
        )

    @cached_property
    def open(self) -> Bool[Tensor, "_ 1 _ K"] | None:
        """True where a query may look at a key; None if everything is open."""
        padding = None if self.keys is None else self.keys[:, None, None, :]
        if not self.causal:
            return padding
        past = torch.ones(self.n_queries, self.n_keys, dtype=torch.bool, device=self.device)
        past = past.tril(self.n_keys - self.n_queries)
        if self.window is not None:
            past = past.triu(self.n_keys - self.n_queries - self.window + 1)
        past = past[None, None]
        return past if padding is None else past & padding

    @property
    def is_plain_causal(self) -> bool:
        """Whether the mask is the lower triangle and nothing else, which fused kernels know by themselves."""
        return self.causal and self.window is None and self.keys is None and self.n_queries == self.n_keys

    def softmax(self, score_BHQK: Float[Tensor, "B H Q K"]) -> Float[Tensor, "B H Q K"]:
        """The pattern: open cells of a row sum to 1, closed cells are 0, a closed row is all 0."""
        if self.open is None:
            return score_BHQK.softmax(-1)
        closed = ~self.open
        # A closed row is 0/0 here; the second filling makes it 0, and its gradient with it.
        return score_BHQK.masked_fill(closed, -torch.inf).softmax(-1).masked_fill(closed, 0.0)

    def with_bias(self, bias_1HQK: Float[Tensor, "1 H Q K"]) -> Float[Tensor, "_ H Q K"]:
        """The bias where a cell is open, minus infinity where it is closed; made once for all layers."""
        if self._biased is None or self._biased[0] is not bias_1HQK:
            closed = None if self.open is None else ~self.open
            filled = bias_1HQK if closed is None else bias_1HQK.masked_fill(closed, -torch.inf)
            self._biased = (bias_1HQK, filled)
        return self._biased[1]
