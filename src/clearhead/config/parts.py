"""The configurations of a block's parts: embedding, attention, feed-forward, norm."""

from dataclasses import dataclass

from clearhead.config.checks import divisors, require_positive, require_share, require_size, require_types
from clearhead.config.choices import Activation, NormKind, NormPlacement, ScorerKind
from clearhead.config.record import RECORD
from clearhead.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """How ids become vectors.

    Attributes:
        vocab_size: Rows of the table.
        scaled: Whether rows are multiplied by the square root of the model width.
        n_segments: Kinds of segment ("sentence A", "sentence B"); none if 0.
        norm: Whether the sum of token, position and segment is normalised.
    """

    __pydantic_config__ = RECORD

    vocab_size: int
    scaled: bool = False
    n_segments: int = 0
    norm: bool = False

    def __post_init__(self) -> None:
        require_types(self)
        require_size("vocab_size", self.vocab_size)
        require_size("n_segments", self.n_segments, least=0)


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """Who looks at whom, and how.

    Attributes:
        n_heads: Heads of queries.
        n_kv_heads: Heads of keys and values, each shared by a group of query heads; None for `n_heads`.
        head_width: Width of one head's queries and keys; None for width / n_heads.
        scorer: How well a query matches a key.
        bias: Whether the projections to queries, keys and values have biases.
        output_bias: Whether the output projection has one.
        window: How far back a query of self-attention sees, itself included; None for all the way.
        dropout: Share of the pattern's cells dropped in training.
    """

    __pydantic_config__ = RECORD

    n_heads: int
    n_kv_heads: int | None = None
    head_width: int | None = None
    scorer: ScorerKind = ScorerKind.SCALED_DOT
    bias: bool = True
    output_bias: bool = True
    window: int | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        require_size("n_heads", self.n_heads)
        if self.window is not None:
            require_size("window", self.window)
        require_share("dropout", self.dropout)
        if self.head_width is not None:
            require_size("head_width", self.head_width)
        if self.n_kv_heads is not None:
            require_size("n_kv_heads", self.n_kv_heads)
            if self.n_heads % self.n_kv_heads:
                raise ConfigError(
                    "key/value heads must divide the heads",
                    got=f"n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}",
                    expected=divisors(self.n_heads),
                )

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values, given or derived."""
        return self.n_kv_heads or self.n_heads


@dataclass(frozen=True, kw_only=True)
class FeedForwardConfig:
    """The network that every position passes on its own.

    Attributes:
        width: The hidden width.
        activation: Its bend.
        gated: Whether a second projection multiplies the bent one: silu gated is swiglu.
        bias: Whether its maps have biases.
        dropout: Share of the hidden units dropped in training.
    """

    __pydantic_config__ = RECORD

    width: int
    activation: Activation = Activation.RELU
    gated: bool = False
    bias: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        require_size("feedforward width", self.width)
        require_share("dropout", self.dropout)


@dataclass(frozen=True, kw_only=True)
class NormConfig:
    """What keeps the residual stream in bounds.

    Attributes:
        kind: Layer norm or RMS norm.
        placement: Before each sublayer, or after the residual sum.
        epsilon: What keeps the division finite.
        final: Whether the stack's output is normalised once more.
    """

    __pydantic_config__ = RECORD

    kind: NormKind = NormKind.LAYER
    placement: NormPlacement = NormPlacement.BEFORE
    epsilon: float = 1e-5
    final: bool = True

    def __post_init__(self) -> None:
        require_types(self)
        require_positive("epsilon", self.epsilon)
