"""A configuration becomes a model."""

from typing import overload

import torch

from clearhead.config import Family, ModelConfig, RecurrentConfig
from clearhead.models.base import Network
from clearhead.models.decoder_only import DecoderOnly
from clearhead.models.encoder_decoder import EncoderDecoder
from clearhead.models.encoder_only import EncoderOnly
from clearhead.models.recurrent import Recurrent
from clearhead.nn.initialise import initialise

_KINDS = {
    Family.ENCODER_ONLY: EncoderOnly,
    Family.DECODER_ONLY: DecoderOnly,
    Family.ENCODER_DECODER: EncoderDecoder,
}


@overload
def build(config: ModelConfig, *, seed: int | None = None) -> EncoderOnly | DecoderOnly | EncoderDecoder: ...
@overload
def build(config: RecurrentConfig, *, seed: int | None = None) -> Recurrent: ...
def build(config: ModelConfig | RecurrentConfig, *, seed: int | None = None) -> Network[ModelConfig] | Recurrent:
    """A model with first values, ready to train.

    Args:
        config: What to build.
        seed: Where the first values come from: the same seed gives the same model and disturbs no other
            random numbers. None draws from torch's default generator.
    """
    model = blank(config)
    model.to_empty(device="cpu")
    before = torch.get_rng_state()
    if seed is not None:
        torch.default_generator.manual_seed(seed)
    initialise(model)
    if seed is not None:
        torch.set_rng_state(before)
    return model


@overload
def blank(config: ModelConfig) -> EncoderOnly | DecoderOnly | EncoderDecoder: ...
@overload
def blank(config: RecurrentConfig) -> Recurrent: ...
def blank(config: ModelConfig | RecurrentConfig) -> Network[ModelConfig] | Recurrent:
    """A model whose parameters have shapes but no memory yet: it waits for `set_parameters`."""
    with torch.device("meta"):
        if isinstance(config, RecurrentConfig):
            return Recurrent(config=config).eval()
        return _KINDS[config.family](config=config).eval()
