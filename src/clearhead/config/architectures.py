"""The published architectures, each one point in the space of choices.

architecture("gpt2", size=Size(n_layers=12, width=768, n_heads=12, feedforward_width=3072), vocab_size=50257)
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from clearhead.config.checks import require_share, require_size, require_types
from clearhead.config.choices import (
    Activation,
    HeadKind,
    NormKind,
    NormPlacement,
    PositionKind,
    ScorerKind,
)
from clearhead.config.head import HeadConfig
from clearhead.config.model import ModelConfig
from clearhead.config.parts import AttentionConfig, EmbeddingConfig, FeedForwardConfig, NormConfig
from clearhead.config.position import PositionConfig
from clearhead.config.stack import StackConfig
from clearhead.errors import ConfigError, nearest


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a model is, whatever its architecture.

    Attributes:
        n_layers: Blocks of each stack.
        width: The width of the residual stream.
        n_heads: Heads of every attention.
        feedforward_width: The hidden width of every feed-forward network.
        max_length: Positions, where the architecture has a limit.
        dropout: Share dropped in training.
    """

    n_layers: int
    width: int
    n_heads: int
    feedforward_width: int
    max_length: int = 512
    dropout: float = 0.1

    def __post_init__(self) -> None:
        require_types(self)
        require_size("max_length", self.max_length)
        require_share("dropout", self.dropout)


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The choices that a published architecture makes, apart from its size."""

    encoder: bool = False
    decoder: bool = False
    head: HeadConfig
    position: PositionKind
    norm: NormConfig
    activation: Activation
    gated: bool = False
    bias: bool = True
    scorer: ScorerKind = ScorerKind.SCALED_DOT
    scaled_embedding: bool = False
    n_segments: int = 0
    embedding_norm: bool = False

    def at(self, size: Size, *, vocab_size: int) -> ModelConfig:
        """This architecture at a size."""
        stack = StackConfig(
            n_layers=size.n_layers,
            width=size.width,
            embedding=EmbeddingConfig(
                vocab_size=vocab_size,
                scaled=self.scaled_embedding,
                n_segments=self.n_segments,
                norm=self.embedding_norm,
            ),
            position=PositionConfig(
                kind=self.position, max_length=None if self.position is PositionKind.RELATIVE else size.max_length
            ),
            attention=AttentionConfig(
                n_heads=size.n_heads,
                scorer=self.scorer,
                bias=self.bias,
                output_bias=self.bias,
                dropout=size.dropout,
            ),
            feedforward=FeedForwardConfig(
                width=size.feedforward_width,
                activation=self.activation,
                gated=self.gated,
                bias=self.bias,
                dropout=size.dropout,
            ),
            norm=self.norm,
            dropout=size.dropout,
        )
        return ModelConfig(
            encoder=stack if self.encoder else None,
            decoder=stack if self.decoder else None,
            head=self.head,
        )


_POST_NORM = NormConfig(placement=NormPlacement.AFTER, final=False)
_RMS = NormConfig(kind=NormKind.RMS, epsilon=1e-6)
_LANGUAGE_MODEL = HeadConfig(kind=HeadKind.LANGUAGE_MODEL)

_ORIGINAL = Architecture(
    encoder=True,
    decoder=True,
    head=_LANGUAGE_MODEL,
    position=PositionKind.SINUSOIDAL,
    norm=_POST_NORM,
    activation=Activation.RELU,
    scaled_embedding=True,
)
_GPT2 = Architecture(
    decoder=True,
    head=_LANGUAGE_MODEL,
    position=PositionKind.LEARNED,
    norm=NormConfig(),
    activation=Activation.GELU_TANH,
)
_BERT = Architecture(
    encoder=True,
    head=HeadConfig(kind=HeadKind.MASKED_LANGUAGE_MODEL, bias=True),
    position=PositionKind.LEARNED,
    norm=replace(_POST_NORM, epsilon=1e-12),
    activation=Activation.GELU,
    n_segments=2,
    embedding_norm=True,
)
_T5 = Architecture(
    encoder=True,
    decoder=True,
    head=replace(_LANGUAGE_MODEL, scaled=True),
    position=PositionKind.RELATIVE,
    norm=_RMS,
    activation=Activation.RELU,
    bias=False,
    scorer=ScorerKind.DOT,
)

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        "original": _ORIGINAL,
        "marian": replace(
            _ORIGINAL,
            position=PositionKind.SINUSOIDAL_HALVES,
            activation=Activation.SILU,
            head=replace(_LANGUAGE_MODEL, bias=True),
        ),
        "t5": _T5,
        "flan-t5": replace(_T5, activation=Activation.GELU_TANH, gated=True, head=replace(_LANGUAGE_MODEL, tied=False)),
        "gpt": replace(_GPT2, norm=_POST_NORM),
        "gpt2": _GPT2,
        "llama": Architecture(
            decoder=True,
            head=_LANGUAGE_MODEL,
            position=PositionKind.ROTARY,
            norm=_RMS,
            activation=Activation.SILU,
            gated=True,
            bias=False,
        ),
        "bert": _BERT,
        "distilbert": replace(_BERT, n_segments=0),
    }
)
"""Every architecture by name: the original Transformer and its published descendants."""


def architecture(name: str, *, size: Size, vocab_size: int) -> ModelConfig:
    """A published architecture at a size.

    Raises:
        ConfigError: No architecture of that name.
    """
    if name not in ARCHITECTURES:
        raise ConfigError(
            "an unknown architecture",
            got=name,
            expected=", ".join(ARCHITECTURES),
            advice=nearest(name, ARCHITECTURES),
        )
    return ARCHITECTURES[name].at(size, vocab_size=vocab_size)
