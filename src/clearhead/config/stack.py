"""A stack of like blocks with the embedding that feeds it."""

from dataclasses import dataclass

from clearhead.config.checks import divisors, require_share, require_size, require_types
from clearhead.config.choices import PositionKind, RotaryScalingKind
from clearhead.config.parts import AttentionConfig, EmbeddingConfig, FeedForwardConfig, NormConfig
from clearhead.config.position import PositionConfig
from clearhead.config.record import RECORD
from clearhead.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class StackConfig:
    """One tower: an encoder or a decoder.

    Attributes:
        n_layers: Blocks.
        width: The width of the residual stream.
        embedding: What feeds the first block.
        position: How the order of tokens is known.
        attention: The attention of every block, self and cross alike.
        feedforward: The feed-forward network of every block.
        norm: The norms of every block.
        dropout: Share dropped in training from the embedding and from what each sublayer adds.
    """

    __pydantic_config__ = RECORD

    n_layers: int
    width: int
    embedding: EmbeddingConfig
    position: PositionConfig
    attention: AttentionConfig
    feedforward: FeedForwardConfig
    norm: NormConfig
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        require_size("n_layers", self.n_layers, most=10_000)
        require_size("width", self.width)
        require_share("dropout", self.dropout)
        if self.attention.head_width is None and self.width % self.attention.n_heads:
            raise ConfigError(
                "the heads do not divide the width",
                got=f"width={self.width}, n_heads={self.attention.n_heads}",
                expected=divisors(self.width),
                advice="another n_heads, or an explicit head_width",
            )
        if self.position.kind is PositionKind.ROTARY and self.head_width % 2:
            raise ConfigError(
                "rotary positions turn pairs", got=f"head_width={self.head_width}", expected="an even head width"
            )
        scaling = self.position.scaling
        if scaling is not None and scaling.kind is RotaryScalingKind.DYNAMIC and self.head_width <= 2:
            raise ConfigError(
                "dynamic rotary scaling needs two pairs", got=f"head_width={self.head_width}", expected="4 or more"
            )
        if self.position.kind in (PositionKind.SINUSOIDAL, PositionKind.SINUSOIDAL_HALVES) and self.width % 2:
            raise ConfigError("sinusoids come in pairs", got=f"width={self.width}", expected="an even width")

    @property
    def head_width(self) -> int:
        """Width of one head, given or derived."""
        return self.attention.head_width or self.width // self.attention.n_heads
