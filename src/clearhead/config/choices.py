"""The orthogonal choices of which every architecture is one combination."""

from enum import StrEnum


class Family(StrEnum):
    """Which stacks a model has."""

    ENCODER_ONLY = "encoder-only"
    DECODER_ONLY = "decoder-only"
    ENCODER_DECODER = "encoder-decoder"


class PositionKind(StrEnum):
    """How a model knows the order of its tokens."""

    NONE = "none"
    SINUSOIDAL = "sinusoidal"
    """Sine and cosine in turns, as in the original paper."""
    SINUSOIDAL_HALVES = "sinusoidal-halves"
    """All sines, then all cosines."""
    LEARNED = "learned"
    ROTARY = "rotary"
    RELATIVE = "relative"
    """A learned bias on the score for each bucket of distances."""


class RotaryScalingKind(StrEnum):
    """How rotary frequencies are stretched beyond the length that was trained."""

    LINEAR = "linear"
    LLAMA3 = "llama3"
    DYNAMIC = "dynamic"
    """By the longest text of the batch so far, as the reference has it: beyond the trained length, and there alone,
    a row depends on its neighbours and cached keys on when they were cached."""
    YARN = "yarn"


class NormKind(StrEnum):
    """What a norm divides by."""

    LAYER = "layer"
    RMS = "rms"


class NormPlacement(StrEnum):
    """Where a norm stands: before its sublayer, or after the residual sum."""

    BEFORE = "before"
    AFTER = "after"


class Activation(StrEnum):
    """The bend between two linear maps."""

    RELU = "relu"
    GELU = "gelu"
    GELU_TANH = "gelu-tanh"
    """The tanh approximation of gelu."""
    SILU = "silu"
    TANH = "tanh"


class ScorerKind(StrEnum):
    """How well a query matches a key."""

    SCALED_DOT = "scaled-dot"
    DOT = "dot"
    ADDITIVE = "additive"
    """Bahdanau's: a small network with one hidden layer."""


class HeadKind(StrEnum):
    """What is read off the last hidden state."""

    NONE = "none"
    LANGUAGE_MODEL = "language-model"
    MASKED_LANGUAGE_MODEL = "masked-language-model"
    SEQUENCE_CLASSIFICATION = "sequence-classification"
    TOKEN_CLASSIFICATION = "token-classification"  # noqa: S105  (not a password)
    QUESTION_ANSWERING = "question-answering"
    SENTENCE = "sentence"
    """One vector a text."""


class Pooling(StrEnum):
    """How the vectors of a text become one."""

    MEAN = "mean"
    FIRST = "first"
    LAST = "last"
    MAX = "max"


class Cell(StrEnum):
    """The recurrent cell."""

    GRU = "gru"
    LSTM = "lstm"


class RecurrentAttention(StrEnum):
    """What a recurrent decoder looks back with."""

    NONE = "none"
    ADDITIVE = "additive"
    DOT = "dot"
