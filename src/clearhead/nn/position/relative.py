"""Relative positions: a learned bias on the score for each bucket of distances."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


class RelativePosition(nn.Module):
    """A bias on every score that depends on head and distance only.

        score[q, k] = query[q] · key[k] + weight[bucket(k - q)]        (Raffel et al. 2020, section 2.1)

    Near distances have a bucket each; farther ones share buckets that widen with the logarithm of the
    distance. Where the past alone is visible, all buckets serve it; otherwise half of them serve each side.
    """

    def __init__(self, *, n_heads: int, n_buckets: int, max_distance: int, causal: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_buckets, n_heads))
        self.max_distance = max_distance
        self.causal = causal

    def forward(self, *, n_queries: int, n_keys: int) -> Float[Tensor, "1 H Q K"]:
        """The bias for the last `n_queries` of `n_keys` positions."""
        key_K = torch.arange(n_keys, device=self.weight.device)
        query_Q = key_K[n_keys - n_queries :]
        bias_QKH = functional.embedding(self.bucket(key_K.unsqueeze(0) - query_Q.unsqueeze(1)), self.weight)
        return bias_QKH.permute(2, 0, 1).unsqueeze(0)

    def bucket(self, distance: Int[Tensor, "Q K"]) -> Int[Tensor, "Q K"]:
        """The bucket of each distance from a query to a key."""
        n_buckets = self.weight.shape[0]
        if self.causal:
            first = torch.zeros_like(distance)
            distance = (-distance).clamp(min=0)
        else:
            n_buckets //= 2
            first = (distance > 0).long() * n_buckets
            distance = distance.abs()
        n_exact = n_buckets // 2
        growth = torch.log(distance.float() / n_exact) / math.log(self.max_distance / n_exact)
        # Distance 0 has no logarithm; it is exact, and the value beside it is not used.
        far = n_exact + (growth.clamp(min=0) * (n_buckets - n_exact)).long()
        return first + torch.where(distance < n_exact, distance, far.clamp(max=n_buckets - 1))
