"""Scorers: how well each query matches each key. Drop-in for one another."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearhead.config import ScorerKind


class Scorer(nn.Module):
    """What every scorer is: called with queries and keys, it gives one number for every pair.

    Attributes:
        fused_scale: What the dot product is multiplied by, where the score is one and so a fused kernel
            can compute it; None otherwise.
    """

    fused_scale: float | None = None


class DotScorer(Scorer):
    """The dot product, scaled or plain.

        score = query · key * scale        scale = 1 / sqrt(C), or 1        (Vaswani et al. 2017, eq. 1)

    The variance of a dot product grows with the width of what is multiplied; the scale undoes that.
    """

    def __init__(self, *, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.fused_scale = scale

    def forward(
        self, query_BHQC: Float[Tensor, "B H Q C"], key_BHKC: Float[Tensor, "B H K C"]
    ) -> Float[Tensor, "B H Q K"]:
        """The dot product of every pair, scaled."""
        # One call that multiplies and scales: where a step has one query, calls are what its scores cost.
        queries, keys = query_BHQC.flatten(0, 1), key_BHKC.flatten(0, 1)
        nothing = query_BHQC.new_empty(1)
        scores = torch.baddbmm(nothing, queries, keys.mT, beta=0, alpha=self.scale)
        return scores.view(*query_BHQC.shape[:3], key_BHKC.shape[2])


class AdditiveScorer(Scorer):
    """A small network with one hidden layer.

        score = v · tanh(query + key)        (Bahdanau et al. 2015, section A.1.2)

    The paper's W and U are the projections that made query and key.
    """

    def __init__(self, *, n_heads: int, head_width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_heads, head_width))

    def forward(
        self, query_BHQC: Float[Tensor, "B H Q C"], key_BHKC: Float[Tensor, "B H K C"]
    ) -> Float[Tensor, "B H Q K"]:
        """The network's answer for every pair."""
        hidden = torch.tanh(query_BHQC.unsqueeze(3) + key_BHKC.unsqueeze(2))
        return torch.einsum("bhqkc,hc->bhqk", hidden, self.weight)


def make_scorer(kind: ScorerKind, *, n_heads: int, head_width: int) -> Scorer:
    """The scorer that a configuration asks for."""
    match kind:
        case ScorerKind.SCALED_DOT:
            return DotScorer(scale=1 / math.sqrt(head_width))
        case ScorerKind.DOT:
            return DotScorer()
        case ScorerKind.ADDITIVE:
            return AdditiveScorer(n_heads=n_heads, head_width=head_width)
