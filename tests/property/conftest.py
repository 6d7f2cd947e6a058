"""Tiny models of every architecture, of drawn sizes, for properties that hold for all of them."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import strategies as st

from clearhead.config import (
    ARCHITECTURES,
    ModelConfig,
    PositionKind,
    RotaryScaling,
    RotaryScalingKind,
    ScorerKind,
    Size,
    StackConfig,
    architecture,
)
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, build

N_PIECES = 13
SIZES = [
    Size(
        n_layers=n_layers,
        width=n_heads * head_width,
        n_heads=n_heads,
        feedforward_width=hidden,
        max_length=12,
        dropout=0.0,
    )
    for n_layers, n_heads, head_width, hidden in [(1, 1, 4, 3), (1, 4, 2, 1), (2, 2, 2, 5), (2, 2, 4, 7)]
]

Change = Callable[[StackConfig], StackConfig]


def _position(kind: PositionKind) -> Change:
    return lambda stack: replace(stack, position=replace(stack.position, kind=kind))


def _scaled(scaling: RotaryScaling) -> Change:
    return lambda stack: replace(stack, position=replace(stack.position, scaling=scaling))


def _grouped(stack: StackConfig) -> StackConfig:
    return replace(stack, attention=replace(stack.attention, n_kv_heads=max(1, stack.attention.n_heads // 2)))


def _additive(stack: StackConfig) -> StackConfig:
    return replace(stack, attention=replace(stack.attention, scorer=ScorerKind.ADDITIVE))


def _windowed(stack: StackConfig) -> StackConfig:
    return replace(stack, attention=replace(stack.attention, window=3))


def _few_buckets(stack: StackConfig) -> StackConfig:
    return replace(stack, position=replace(stack.position, n_buckets=6, max_distance=8))


YARN = RotaryScaling(kind=RotaryScalingKind.YARN, factor=2.0, original_length=8)
LLAMA3 = RotaryScaling(kind=RotaryScalingKind.LLAMA3, factor=2.0, original_length=8)

# Beside the published architectures, choices that none of them makes.
CHANGES: dict[str, dict[str, Change]] = {
    "gpt2": {
        "none": _position(PositionKind.NONE),
        "sinusoidal": _position(PositionKind.SINUSOIDAL),
        "relative": _position(PositionKind.RELATIVE),
        "additive": _additive,
        "window": _windowed,
    },
    "llama": {"grouped": _grouped, "yarn": _scaled(YARN), "llama3": _scaled(LLAMA3)},
    "bert": {"relative": _position(PositionKind.RELATIVE), "grouped": _grouped},
    "t5": {"few-buckets": _few_buckets, "grouped": _grouped},
}


def _names(*, encoder: bool, decoder: bool) -> list[str]:
    names = [name for name, made in ARCHITECTURES.items() if (made.encoder, made.decoder) == (encoder, decoder)]
    return [*names, *(f"{name}-{change}" for name in names for change in CHANGES.get(name, {}))]


def _config(name: str, size: Size) -> ModelConfig:
    if name in ARCHITECTURES:
        return architecture(name, size=size, vocab_size=N_PIECES)
    base, change = next((b, c) for b in CHANGES for c in CHANGES[b] if f"{b}-{c}" == name)
    config = architecture(base, size=size, vocab_size=N_PIECES)
    make = CHANGES[base][change]
    return replace(
        config,
        encoder=config.encoder and make(config.encoder),
        decoder=config.decoder and make(config.decoder),
    )


@cache
def _built(name: str, size: Size) -> EncoderOnly | DecoderOnly | EncoderDecoder:
    return build(_config(name, size), seed=0).double()


def _make(name: str, data: st.DataObject) -> EncoderOnly | DecoderOnly | EncoderDecoder:
    """A model of drawn size in double precision, whose parameters are all random: biases and norms too."""
    model = _built(name, data.draw(st.sampled_from(SIZES), "size"))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 2**16), "seed"))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(generator=generator)
    return model


@pytest.fixture(scope="session", params=_names(encoder=True, decoder=False))
def encoder_only(request: pytest.FixtureRequest) -> Callable[[st.DataObject], EncoderOnly]:
    """Draws an encoder-only model."""
    return lambda data: _make(request.param, data)


@pytest.fixture(scope="session", params=_names(encoder=False, decoder=True))
def decoder_only(request: pytest.FixtureRequest) -> Callable[[st.DataObject], DecoderOnly]:
    """Draws a decoder-only model."""
    return lambda data: _make(request.param, data)


@pytest.fixture(scope="session", params=_names(encoder=True, decoder=True))
def encoder_decoder(request: pytest.FixtureRequest) -> Callable[[st.DataObject], EncoderDecoder]:
    """Draws an encoder-decoder."""
    return lambda data: _make(request.param, data)


@pytest.fixture(scope="session")
def draw_ids() -> Callable[..., torch.Tensor]:
    """Draws ids of a given shape."""

    def draw(data: st.DataObject, batch: int, length: int) -> torch.Tensor:
        row = st.lists(st.integers(0, N_PIECES - 1), min_size=length, max_size=length)
        rows = data.draw(st.lists(row, min_size=batch, max_size=batch), "ids")
        return torch.tensor(rows, dtype=torch.long).view(batch, length)

    return draw
