"""How likely a model finds each text: the loss of its tokens, summed text by text."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearhead.training.assessment.lengths import n_words
from clearhead.training.assessment.results import Likelihood, exponential

_CHUNK = 512
"""Positions whose logits exist at one time."""

_BITS_A_NAT = 1 / math.log(2)


@dataclass(frozen=True, kw_only=True)
class TextLoss:
    """What a model thinks of one text.

    Attributes:
        nats: The summed loss of its tokens.
        n_tokens: The tokens that were asked for.
        n_correct: Those that the model finds likeliest.
    """

    nats: float = 0.0
    n_tokens: int = 0
    n_correct: int = 0

    def __add__(self, other: "TextLoss") -> "TextLoss":
        return TextLoss(
            nats=self.nats + other.nats,
            n_tokens=self.n_tokens + other.n_tokens,
            n_correct=self.n_correct + other.n_correct,
        )

    @property
    def mean(self) -> float:
        """The loss of a token."""
        return self.nats / max(1, self.n_tokens)

    @property
    def perplexity(self) -> float:
        """The exponential of that."""
        return exponential(self.mean)


def row_losses(
    to_logits: Callable[[Tensor], Tensor],
    hidden_BTD: Float[Tensor, "B T D"],
    labels_BT: Int[Tensor, "B T"],
    asked_BT: Bool[Tensor, "B T"],
) -> list[TextLoss]:
    """The loss of each row of a batch, at the positions that are asked about.

    Args:
        to_logits: What makes logits of a few positions.
        hidden_BTD: What it makes them of.
        labels_BT: The tokens that are right.
        asked_BT: True where the loss counts.
    """
    rows = asked_BT.nonzero()[:, 0]
    hidden_TD, labels_T = hidden_BTD[asked_BT], labels_BT[asked_BT]
    nats_B = torch.zeros(len(asked_BT), dtype=torch.float64)
    n_correct_B = torch.zeros(len(asked_BT), dtype=torch.long)
    for start in range(0, len(labels_T), _CHUNK):
        here = slice(start, start + _CHUNK)
        logits_TV = to_logits(hidden_TD[here].unsqueeze(0)).squeeze(0).double()
        true_T = logits_TV.gather(1, labels_T[here].unsqueeze(1)).squeeze(1)
        nats_B.index_add_(0, rows[here], logits_TV.logsumexp(-1) - true_T)
        n_correct_B.index_add_(0, rows[here], (logits_TV.argmax(-1) == labels_T[here]).long())
    return [
        TextLoss(nats=float(nats), n_tokens=int(n), n_correct=int(right))
        for nats, n, right in zip(nats_B, asked_BT.sum(1), n_correct_B, strict=True)
    ]


def likelihood_of(texts: Sequence[str], losses: Sequence[TextLoss]) -> Likelihood:
    """All that follows from the losses of texts."""
    total = sum(losses, TextLoss())
    words = sum(map(n_words, texts))
    characters, n_bytes = sum(map(len, texts)), sum(len(text.encode("utf-8")) for text in texts)
    return Likelihood(
        perplexity=total.perplexity,
        accuracy=total.n_correct / max(1, total.n_tokens),
        per_word=exponential(total.nats / max(1, words)),
        per_character=exponential(total.nats / max(1, characters)),
        bits_per_byte=total.nats * _BITS_A_NAT / max(1, n_bytes),
        n_tokens=total.n_tokens,
        n_words=words,
        n_characters=characters,
        n_bytes=n_bytes,
    )
