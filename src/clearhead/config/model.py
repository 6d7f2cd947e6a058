"""A whole Transformer, as data."""

from dataclasses import dataclass, field

from clearhead.config.checks import require_types
from clearhead.config.choices import Family, HeadKind
from clearhead.config.head import HeadConfig
from clearhead.config.record import RECORD
from clearhead.config.stack import StackConfig
from clearhead.config.tokens import TokenIds
from clearhead.errors import ConfigError

_ENCODER_HEADS = (
    HeadKind.MASKED_LANGUAGE_MODEL,
    HeadKind.TOKEN_CLASSIFICATION,
    HeadKind.QUESTION_ANSWERING,
    HeadKind.SENTENCE,
    HeadKind.SEQUENCE_CLASSIFICATION,
)


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """A whole Transformer: which stacks it has makes its family.

    Attributes:
        encoder: The stack that reads the source, if there is one.
        decoder: The stack that writes the target, if there is one.
        head: What is read off the last hidden state.
        share_embeddings: Whether encoder and decoder use one token table.
        tokens: The ids that begin, end and pad.
    """

    __pydantic_config__ = RECORD

    encoder: StackConfig | None = None
    decoder: StackConfig | None = None
    head: HeadConfig = field(default_factory=HeadConfig)
    share_embeddings: bool = True
    tokens: TokenIds = field(default_factory=TokenIds)

    def __post_init__(self) -> None:
        require_types(self)
        if self.encoder is None and self.decoder is None:
            raise ConfigError(
                "a model needs a stack", got="neither encoder nor decoder", expected="one of them, or both"
            )
        if self.encoder and self.decoder:
            self._check_pair(self.encoder, self.decoder)
        if self.encoder and self.encoder.attention.window is not None:
            raise ConfigError(
                "a window looks back, and an encoder looks both ways",
                got=f"window={self.encoder.attention.window} on an encoder",
                expected="window=None",
            )
        wants_encoder = self.head.kind in _ENCODER_HEADS or self.head.pooler
        if wants_encoder and self.decoder is not None:
            raise ConfigError(
                "this head sits on an encoder",
                got=f"{'a pooler' if self.head.pooler else self.head.kind} on an {self.family} model",
                expected="encoder-only model",
            )
        if self.head.kind is HeadKind.LANGUAGE_MODEL and self.decoder is None:
            raise ConfigError(
                "a language-model head sits on a decoder",
                got="encoder-only model",
                expected="decoder-only or encoder-decoder model",
                advice="masked-language-model for an encoder",
            )

    def _check_pair(self, encoder: StackConfig, decoder: StackConfig) -> None:
        if encoder.width != decoder.width:
            raise ConfigError(
                "encoder and decoder must be of one width",
                got=f"{encoder.width} and {decoder.width}",
                expected=f"width={decoder.width} in both",
            )
        if self.share_embeddings and encoder.embedding.vocab_size != decoder.embedding.vocab_size:
            raise ConfigError(
                "a shared embedding needs one vocabulary",
                got=f"{encoder.embedding.vocab_size} and {decoder.embedding.vocab_size}",
                expected="the same vocab_size in both",
                advice="share_embeddings=False",
            )
        if self.share_embeddings and encoder.embedding.scaled != decoder.embedding.scaled:
            raise ConfigError(
                "a shared embedding is scaled in both stacks or in none",
                got=f"scaled={encoder.embedding.scaled} and scaled={decoder.embedding.scaled}",
                expected="the same in both",
            )

    @property
    def family(self) -> Family:
        """Encoder-only, decoder-only or encoder-decoder."""
        if self.decoder is None:
            return Family.ENCODER_ONLY
        return Family.DECODER_ONLY if self.encoder is None else Family.ENCODER_DECODER

    @property
    def output_stack(self) -> StackConfig:
        """The stack whose hidden state the head reads."""
        stack = self.decoder or self.encoder
        assert stack is not None
        return stack

    @property
    def width(self) -> int:
        """The width of the residual stream."""
        return self.output_stack.width
