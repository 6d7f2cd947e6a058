"""Heads: what is read off the last hidden state."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from clearhead.config import Activation, HeadConfig, NormConfig, Pooling
from clearhead.nn.activation import ACTIVATIONS
from clearhead.nn.embedding import TokenEmbedding
from clearhead.nn.norm import make_norm
from clearhead.nn.product import Linear, product
from clearhead.probe import probe


class LanguageModelHead(nn.Module):
    """One logit for every piece of the vocabulary.

    logits = hidden * scale · weight^T + bias        tied: weight is the token table (Press and Wolf 2017)
    """

    def __init__(self, *, config: HeadConfig, token: TokenEmbedding) -> None:
        super().__init__()
        vocab_size, width = token.weight.shape
        self.tied = token if config.tied else None
        self.untied = None if config.tied else Linear(width, vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if config.bias else None
        self.scale = 1 / math.sqrt(width) if config.scaled else 1.0

    def forward(self, hidden_BTD: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The logits of every position."""
        table = self.tied or self.untied
        assert table is not None
        hidden_BTD = hidden_BTD if self.scale == 1.0 else hidden_BTD * self.scale
        return probe("logits", product(hidden_BTD, table.weight, self.bias))


class MaskedLanguageModelHead(nn.Module):
    """A hidden layer, then one logit for every piece of the vocabulary.

    logits = norm(activation(hidden W)) · weight^T + bias        (Devlin et al. 2019)
    """

    def __init__(self, *, config: HeadConfig, token: TokenEmbedding, norm: NormConfig) -> None:
        super().__init__()
        width = token.weight.shape[1]
        self.transform = Linear(width, width)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = make_norm(norm, width=width)
        self.vocabulary = LanguageModelHead(config=config, token=token)

    def forward(self, hidden_BSD: Float[Tensor, "B S D"]) -> Float[Tensor, "B S V"]:
        """The logits of every position."""
        return self.vocabulary(probe("transform", self.norm(self.activation(self.transform(hidden_BSD)))))


class Pooler(nn.Module):
    """A hidden layer on the first real token.

    pooled = activation(hidden_0 W)        (Devlin et al. 2019, with tanh)
    """

    def __init__(self, *, activation: Activation, width: int) -> None:
        super().__init__()
        self.dense = Linear(width, width)
        self.activation = ACTIVATIONS[activation]

    def forward(
        self, hidden_BSD: Float[Tensor, "B S D"], mask_BS: Bool[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B D"]:
        """One vector a text."""
        return probe("pooled", self.activation(self.dense(_first(hidden_BSD, mask_BS))))


class SequenceClassificationHead(nn.Module):
    """One logit for every label of a text, read off its first real token.

    logits = activation(hidden_0 W) · weight^T + bias
    """

    def __init__(self, *, config: HeadConfig, width: int) -> None:
        super().__init__()
        self.pooler = Pooler(activation=config.activation, width=width)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = Linear(width, len(config.labels))

    def forward(
        self, hidden_BSD: Float[Tensor, "B S D"], mask_BS: Bool[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B labels"]:
        """The logits of every text."""
        return probe("logits", self.classifier(self.dropout(self.pooler(hidden_BSD, mask_BS))))


class TokenHead(nn.Module):
    """A few logits for every token: its labels, or whether an answer starts or ends there.

    logits = hidden · weight^T + bias
    """

    def __init__(self, *, config: HeadConfig, width: int, n_outputs: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = Linear(width, n_outputs)

    def forward(self, hidden_BSD: Float[Tensor, "B S D"]) -> Float[Tensor, "B S outputs"]:
        """The logits of every position."""
        return probe("logits", self.classifier(self.dropout(hidden_BSD)))


class SentenceHead(nn.Module):
    """One vector a text, from the vectors of its real tokens; no parameters of its own."""

    def __init__(self, *, config: HeadConfig) -> None:
        super().__init__()
        self.pooling = config.pooling
        self.normalised = config.normalised

    def forward(self, hidden_BSD: Float[Tensor, "B S D"], mask_BS: Bool[Tensor, "B S"] | None) -> Float[Tensor, "B D"]:
        """The vector of every text."""
        vector_BD = self._pool(hidden_BSD, mask_BS)
        return probe("vector", functional.normalize(vector_BD, dim=-1) if self.normalised else vector_BD)

    def _pool(self, hidden_BSD: Tensor, mask_BS: Tensor | None) -> Tensor:
        if mask_BS is None:
            mask_BS = torch.ones(hidden_BSD.shape[:2], dtype=torch.bool, device=hidden_BSD.device)
        real_BS1 = mask_BS.unsqueeze(-1)
        match self.pooling:
            case Pooling.MEAN:
                return (hidden_BSD * real_BS1).sum(1) / real_BS1.sum(1).clamp(min=1)
            case Pooling.MAX:
                largest_BD = hidden_BSD.masked_fill(~real_BS1, -torch.inf).amax(1)
                return largest_BD.masked_fill(~mask_BS.any(1, keepdim=True), 0.0)  # a text of padding alone
            case Pooling.FIRST:
                return _first(hidden_BSD, mask_BS)
            case Pooling.LAST:
                return _first(hidden_BSD.flip(1), mask_BS.flip(1))


def _first(hidden_BSD: Tensor, mask_BS: Tensor | None) -> Tensor:
    """The vector of every text's first real token."""
    if mask_BS is None:
        return hidden_BSD[:, 0]
    place_B = mask_BS.int().argmax(-1)
    return hidden_BSD[torch.arange(len(place_B), device=place_B.device), place_B]
