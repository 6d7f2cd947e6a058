"""What models give."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class EncoderOutput:
    """What an encoder-only model gives.

    Attributes:
        hidden_BSD: The last hidden state.
        logits: The head's logits: over the vocabulary (B S V), the labels of every token (B S labels),
            the labels of the text (B labels), or start and end of an answer (B S 2).
        vector_BD: One vector a text, where the head pools.
        pooled_BD: The pooler's vector, where there is one beside the head.
    """

    hidden_BSD: Float[Tensor, "B S D"]
    logits: Tensor | None = None
    vector_BD: Float[Tensor, "B D"] | None = None
    pooled_BD: Float[Tensor, "B D"] | None = None


@dataclass(frozen=True, kw_only=True)
class DecoderOutput:
    """What a decoder-only model gives."""

    hidden_BTD: Float[Tensor, "B T D"]
    logits_BTV: Float[Tensor, "B T V"] | None = None


@dataclass(frozen=True, kw_only=True)
class EncoderDecoderOutput:
    """What an encoder-decoder gives."""

    encoded_BSD: Float[Tensor, "B S D"]
    hidden_BTD: Float[Tensor, "B T D"]
    logits_BTV: Float[Tensor, "B T V"] | None = None
