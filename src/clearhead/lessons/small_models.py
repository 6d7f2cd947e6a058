"""The smallest models that still have every part: width 4, two heads, one block."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from clearhead.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    HeadConfig,
    HeadKind,
    ModelConfig,
    NormConfig,
    NormPlacement,
    PositionConfig,
    PositionKind,
    StackConfig,
)
from clearhead.models import EncoderDecoder, EncoderOnly, build
from clearhead.nn.initialise import initialise

__all__ = ["encoder", "encoder_decoder", "filled"]

_SEED = 7

Part = TypeVar("Part", bound=nn.Module)


def encoder(*, vocab_size: int, position: PositionKind = PositionKind.SINUSOIDAL) -> EncoderOnly:
    """An encoder of one block."""
    model = build(ModelConfig(encoder=_stack(vocab_size, position)), seed=_SEED)
    assert isinstance(model, EncoderOnly)
    return model


def encoder_decoder(*, vocab_size: int) -> EncoderDecoder:
    """An encoder of one block, a decoder of one block, and an output layer."""
    stack = _stack(vocab_size, PositionKind.SINUSOIDAL)
    config = ModelConfig(encoder=stack, decoder=stack, head=HeadConfig(kind=HeadKind.LANGUAGE_MODEL))
    model = build(config, seed=_SEED)
    assert isinstance(model, EncoderDecoder)
    return model


def filled(make: Callable[[], Part]) -> Part:
    """A part by itself, with first values that are the same every time and disturb no other random numbers."""
    before = torch.get_rng_state()
    torch.default_generator.manual_seed(_SEED)
    part = make()
    initialise(part)
    torch.set_rng_state(before)
    return part.eval()


def _stack(vocab_size: int, position: PositionKind) -> StackConfig:
    """One block as the notes draw it: norms after the residual sums, a feed-forward network twice as wide."""
    return StackConfig(
        n_layers=1,
        width=4,
        embedding=EmbeddingConfig(vocab_size=vocab_size),
        position=PositionConfig(kind=position),
        attention=AttentionConfig(n_heads=2),
        feedforward=FeedForwardConfig(width=8),
        norm=NormConfig(placement=NormPlacement.AFTER, final=False),
    )
