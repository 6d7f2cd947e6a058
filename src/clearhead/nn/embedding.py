"""Ids become vectors: the token's own, plus where it stands, plus which segment it is in."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from clearhead.config import PositionKind, StackConfig
from clearhead.errors import ShapeMismatch, TextError, WeightsError
from clearhead.nn.norm import make_norm
from clearhead.nn.position import LearnedPosition, SinusoidalPosition
from clearhead.probe import probe


class TokenEmbedding(nn.Module):
    """A table with one row a piece of the vocabulary.

    token = weight[id] * scale        scale = sqrt(D) or 1        (Vaswani et al. 2017, section 3.4)
    """

    def __init__(self, *, vocab_size: int, width: int, scaled: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, width))
        self.scale = math.sqrt(width) if scaled else 1.0

    def forward(self, ids_BT: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The rows of these ids.

        Raises:
            TextError: An id outside the vocabulary.
        """
        try:
            token_BTD = functional.embedding(ids_BT, self.weight)
        except IndexError:
            raise TextError(
                "a token id outside the vocabulary",
                got=f"ids from {ids_BT.min().item()} to {ids_BT.max().item()}",
                expected=f"0 to {self.weight.shape[0] - 1}",
                advice="the tokenizer that belongs to this model",
            ) from None
        return token_BTD if self.scale == 1.0 else token_BTD * self.scale

    @torch.no_grad()
    def set_rows(self, vectors: Any) -> None:
        """Fills the table with given vectors, such as word vectors trained elsewhere.

        Args:
            vectors: One a row: lists, an array or a tensor.

        Raises:
            ShapeMismatch: Not one vector of this width for every piece.
            WeightsError: A value that is not a finite number.
        """
        try:
            given = torch.as_tensor(vectors, dtype=self.weight.dtype)
        except (TypeError, ValueError) as error:
            raise WeightsError("the vectors are not a table of numbers", got=str(error)) from None
        if given.shape != self.weight.shape:
            raise ShapeMismatch(
                "the vectors do not fit the token table", got=tuple(given.shape), expected=tuple(self.weight.shape)
            )
        if not torch.isfinite(given).all():
            raise WeightsError("the vectors hold a value that is not a finite number", expected="finite numbers")
        self.weight.copy_(given / self.scale)


def make_token_embedding(config: StackConfig) -> TokenEmbedding:
    """The token table that a stack's configuration asks for."""
    embedding = config.embedding
    return TokenEmbedding(vocab_size=embedding.vocab_size, width=config.width, scaled=embedding.scaled)


class InputEmbedding(nn.Module):
    """What the first block of a stack reads.

    x = token + position + segment        (normalised and dropped out where the configuration says so)
    """

    def __init__(self, *, config: StackConfig, token: TokenEmbedding) -> None:
        super().__init__()
        self.token = token
        self.position = _make_position(config)
        n_segments = config.embedding.n_segments
        self.segment = TokenEmbedding(vocab_size=n_segments, width=config.width) if n_segments else None
        self.norm = make_norm(config.norm, width=config.width) if config.embedding.norm else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        ids_BT: Int[Tensor, "B T"],
        *,
        positions: Int[Tensor, "#B T"],
        segment_ids_BT: Int[Tensor, "B T"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The vectors of these ids at these positions."""
        x_BTD = probe("token", self.token(ids_BT))
        if self.position is not None:
            x_BTD = x_BTD + probe("position", self.position(positions).to(x_BTD.dtype).expand_as(x_BTD))
        if self.segment is not None:
            segment_ids_BT = torch.zeros_like(ids_BT) if segment_ids_BT is None else segment_ids_BT
            x_BTD = x_BTD + probe("segment", self.segment(segment_ids_BT))
        if self.norm is not None:
            x_BTD = probe("norm", self.norm(x_BTD))
        return self.dropout(x_BTD)


def _make_position(config: StackConfig) -> SinusoidalPosition | LearnedPosition | None:
    position = config.position
    match position.kind:
        case PositionKind.LEARNED:
            assert position.max_length is not None
            return LearnedPosition(max_length=position.max_length, width=config.width)
        case PositionKind.SINUSOIDAL | PositionKind.SINUSOIDAL_HALVES:
            halves = position.kind is PositionKind.SINUSOIDAL_HALVES
            return SinusoidalPosition(width=config.width, theta=position.theta, halves=halves)
        case _:
            return None
