"""What is read off the last hidden state."""

from dataclasses import dataclass

from clearhead.config.checks import require_share, require_size, require_types, short
from clearhead.config.choices import Activation, HeadKind, Pooling
from clearhead.config.record import RECORD
from clearhead.errors import ConfigError

_LABELLED = (HeadKind.SEQUENCE_CLASSIFICATION, HeadKind.TOKEN_CLASSIFICATION)
_VOCABULARY = (HeadKind.LANGUAGE_MODEL, HeadKind.MASKED_LANGUAGE_MODEL)


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What is read off the last hidden state.

    Attributes:
        kind: The head.
        labels: Names of the classes, for the classifying kinds.
        tied: Whether the output layer is the token embedding, for the vocabulary kinds.
        bias: Whether logits over the vocabulary have a bias.
        scaled: Whether the hidden state is divided by the square root of the width before the logits.
        activation: The bend of the hidden layer, for masked language models and sequence classification.
        pooler: Whether a hidden layer on the first token is kept beside the head, as BERT has it.
        pooling: How the vectors of a text become one, for sentences.
        normalised: Whether a sentence's vector has length 1.
    """

    __pydantic_config__ = RECORD

    kind: HeadKind = HeadKind.NONE
    labels: tuple[str, ...] = ()
    tied: bool = True
    bias: bool = False
    scaled: bool = False
    activation: Activation = Activation.GELU
    pooler: bool = False
    pooling: Pooling = Pooling.MEAN
    normalised: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        require_share("dropout", self.dropout)
        if self.pooler and self.kind is HeadKind.SEQUENCE_CLASSIFICATION:
            raise ConfigError("this head has a pooler of its own", got="pooler=True", expected="pooler=False")
        if self.kind in _LABELLED:
            require_size("the number of labels", len(self.labels))
            if len(set(self.labels)) < len(self.labels):
                raise ConfigError("labels must differ", got=short(self.labels), expected="names that differ")
        elif self.labels:
            raise ConfigError(
                "only classifying heads have labels",
                got=f"{len(self.labels)} labels on {self.kind}",
                expected="no labels",
            )

    @property
    def over_vocabulary(self) -> bool:
        """Whether this head gives one logit for every piece of the vocabulary."""
        return self.kind in _VOCABULARY
