"""What a model is, as data: frozen dataclasses, enums, presets.

Takes: numbers and choices, from Python or from JSON.
Gives: configurations that are checked when they are made, and so can always be built.
Uses:  errors.
Never: torch; a configuration is read long before a tensor exists.

    ModelConfig ── encoder, decoder: StackConfig ── attention · feedforward · norm · position · embedding
                └─ head: HeadConfig
    RecurrentConfig: the baseline before the Transformer
"""

from clearhead.config.architectures import ARCHITECTURES, Size, architecture
from clearhead.config.choices import (
    Activation,
    Cell,
    Family,
    HeadKind,
    NormKind,
    NormPlacement,
    Pooling,
    PositionKind,
    RecurrentAttention,
    RotaryScalingKind,
    ScorerKind,
)
from clearhead.config.head import HeadConfig
from clearhead.config.model import ModelConfig
from clearhead.config.parts import AttentionConfig, EmbeddingConfig, FeedForwardConfig, NormConfig
from clearhead.config.position import PositionConfig, RotaryScaling
from clearhead.config.presets import SIZES, preset
from clearhead.config.record import from_dict, to_dict
from clearhead.config.recurrent import RecurrentConfig
from clearhead.config.stack import StackConfig
from clearhead.config.tokens import TokenIds

__all__ = [
    "ARCHITECTURES",
    "SIZES",
    "Activation",
    "AttentionConfig",
    "Cell",
    "EmbeddingConfig",
    "Family",
    "FeedForwardConfig",
    "HeadConfig",
    "HeadKind",
    "ModelConfig",
    "NormConfig",
    "NormKind",
    "NormPlacement",
    "Pooling",
    "PositionConfig",
    "PositionKind",
    "RecurrentAttention",
    "RecurrentConfig",
    "RotaryScaling",
    "RotaryScalingKind",
    "ScorerKind",
    "Size",
    "StackConfig",
    "TokenIds",
    "architecture",
    "from_dict",
    "preset",
    "to_dict",
]
