"""What a configuration refuses when Python makes it; the types themselves are checked by test_record."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jaxtyping
import pytest

from clearhead.config import (
    AttentionConfig,
    EmbeddingConfig,
    HeadConfig,
    HeadKind,
    ModelConfig,
    NormConfig,
    NormKind,
    PositionConfig,
    PositionKind,
    RecurrentConfig,
    RotaryScaling,
    RotaryScalingKind,
    Size,
    StackConfig,
    preset,
)
from clearhead.errors import ConfigError

GPT2 = preset("tiny", architecture="gpt2", vocab_size=9)
BERT = preset("tiny", architecture="bert", vocab_size=9)
T5 = preset("tiny", architecture="t5", vocab_size=9)
assert GPT2.decoder is not None
assert T5.encoder is not None
assert T5.decoder is not None
STACK: StackConfig = GPT2.decoder
T5_ENCODER: StackConfig = T5.encoder
T5_DECODER: StackConfig = T5.decoder

ROTARY = PositionConfig(kind=PositionKind.ROTARY)
SINUSOIDAL = PositionConfig(kind=PositionKind.SINUSOIDAL)
HALVES = PositionConfig(kind=PositionKind.SINUSOIDAL_HALVES)
LABELLED = {"kind": HeadKind.TOKEN_CLASSIFICATION}


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Annotations unchecked, as they are for users."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def heads(**changes: Any) -> StackConfig:
    return replace(STACK, attention=replace(STACK.attention, **changes))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "heads that do not divide the width": (lambda: heads(n_heads=5), "width=64, n_heads=5"),
    "key/value heads that do not divide the heads": (lambda: heads(n_kv_heads=3), "n_heads=4, n_kv_heads=3"),
    "more key/value heads than heads": (lambda: heads(n_kv_heads=8), "n_heads=4, n_kv_heads=8"),
    "no heads": (lambda: AttentionConfig(n_heads=0), "n_heads=0"),
    "no key/value heads": (lambda: AttentionConfig(n_heads=2, n_kv_heads=0), "n_kv_heads=0"),
    "a head without width": (lambda: AttentionConfig(n_heads=2, head_width=0), "head_width=0"),
    "an odd rotary head": (lambda: replace(heads(head_width=5), position=ROTARY), "head_width=5"),
    "an odd sinusoid": (
        lambda: replace(STACK, width=9, attention=AttentionConfig(n_heads=3), position=SINUSOIDAL),
        "width=9",
    ),
    "an odd sinusoid in halves": (
        lambda: replace(STACK, width=9, attention=AttentionConfig(n_heads=3), position=HALVES),
        "width=9",
    ),
    "learned positions without a length": (lambda: PositionConfig(kind=PositionKind.LEARNED), "max_length=None"),
    "buckets beyond the distances": (
        lambda: PositionConfig(kind=PositionKind.RELATIVE, n_buckets=32, max_distance=16),
        "max_distance=16, n_buckets=32",
    ),
    "a label missing": (lambda: HeadConfig(**LABELLED), "the number of labels=0"),
    "no stack": (ModelConfig, "neither encoder nor decoder"),
    "a model without layers": (lambda: replace(STACK, n_layers=0), "n_layers=0"),
    "a size without length": (
        lambda: Size(n_layers=1, width=4, n_heads=1, feedforward_width=4, max_length=0),
        "max_length=0",
    ),
    "a recurrent model of width 1": (lambda: RecurrentConfig(vocab_size=9, width=1), "width=1"),
    "a recurrent target without vocabulary": (
        lambda: RecurrentConfig(vocab_size=9, target_vocab_size=0),
        "target_vocab_size=0",
    ),
    "an epsilon that is no number": (lambda: NormConfig(epsilon=math.nan), "epsilon=nan"),
    "an endless epsilon": (lambda: NormConfig(epsilon=math.inf), "epsilon=inf"),
    "a factor of 0": (lambda: RotaryScaling(kind=RotaryScalingKind.LINEAR, factor=0.0), "factor=0.0"),
    "everything dropped": (lambda: replace(STACK, dropout=1.0), "dropout=1.0"),
    "a dropout that is no number": (lambda: replace(STACK, dropout=math.nan), "dropout=nan"),
    "labels that do not differ": (lambda: HeadConfig(**LABELLED, labels=("a", "a")), "('a', 'a')"),
    "labels on a head without classes": (lambda: HeadConfig(labels=("a",)), "1 labels on none"),
    "scaling of what does not turn": (
        lambda: replace(SINUSOIDAL, scaling=RotaryScaling(kind=RotaryScalingKind.LINEAR, factor=2.0)),
        "scaling with kind=sinusoidal",
    ),
    "a low factor above the high one": (
        lambda: RotaryScaling(
            kind=RotaryScalingKind.LLAMA3,
            factor=2.0,
            original_length=8,
            low_frequency_factor=4.0,
            high_frequency_factor=1.0,
        ),
        "4.0 and 1.0",
    ),
    "a window on an encoder": (
        lambda: replace(BERT, encoder=replace(BERT.encoder, attention=AttentionConfig(n_heads=2, window=3))),
        "window=3 on an encoder",
    ),
    "a pooler on a decoder": (lambda: replace(GPT2, head=HeadConfig(pooler=True)), "decoder-only model"),
    "two poolers": (
        lambda: HeadConfig(kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("a",), pooler=True),
        "pooler=True",
    ),
    "stacks of two widths": (
        lambda: replace(T5, encoder=replace(T5_ENCODER, width=128)),
        "128 and 64",
    ),
    "one table for two vocabularies": (
        lambda: replace(T5, encoder=replace(T5_ENCODER, embedding=EmbeddingConfig(vocab_size=10))),
        "10 and 9",
    ),
    "an encoder's head on a decoder": (
        lambda: replace(GPT2, head=HeadConfig(kind=HeadKind.QUESTION_ANSWERING)),
        "decoder-only model",
    ),
    "a sentence head on an encoder-decoder": (
        lambda: replace(T5, head=HeadConfig(kind=HeadKind.SENTENCE)),
        "encoder-decoder model",
    ),
    "a language model on an encoder": (
        lambda: replace(BERT, head=HeadConfig(kind=HeadKind.LANGUAGE_MODEL)),
        "encoder-only model",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_refuses_and_says_got_and_expected(case: str) -> None:
    make, got = REFUSED[case]
    with pytest.raises(ConfigError) as caught:
        make()
    assert got in str(caught.value.got)
    assert caught.value.expected is not None


@pytest.mark.parametrize("kind", [kind for kind in RotaryScalingKind if kind is not RotaryScalingKind.LINEAR])
def test_all_rotary_scalings_but_linear_need_the_trained_length(kind: RotaryScalingKind) -> None:
    RotaryScaling(kind=RotaryScalingKind.LINEAR, factor=2.0)
    with pytest.raises(ConfigError) as caught:
        RotaryScaling(kind=kind, factor=2.0)
    assert caught.value.expected == "original_length"


def test_heads_that_do_not_divide_the_width_are_told_which_do() -> None:
    with pytest.raises(ConfigError) as caught:
        heads(n_heads=5)
    assert caught.value.expected == "a divisor of 64: 1, 2, 4, 8, 16, 32, 64"


def test_an_explicit_head_width_need_not_divide_anything() -> None:
    stack = heads(n_heads=5, head_width=7)
    assert stack.head_width == 7
    assert STACK.head_width == 16


def test_two_vocabularies_are_allowed_where_nothing_is_shared() -> None:
    other = replace(T5_ENCODER, embedding=EmbeddingConfig(vocab_size=10))
    config = replace(T5, encoder=other, share_embeddings=False)
    assert config.family == "encoder-decoder"
    assert config.output_stack is T5_DECODER


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("value", [True, "8", 8.0, None])
def test_a_size_of_another_type_is_refused_in_python_too(value: Any) -> None:
    with pytest.raises(ConfigError):
        EmbeddingConfig(vocab_size=value)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("value", [True, "0.1", None])
def test_a_number_of_another_type_is_refused_in_python_too(value: Any) -> None:
    with pytest.raises(ConfigError):
        NormConfig(epsilon=value)
    with pytest.raises(ConfigError):
        replace(STACK, dropout=value)


@pytest.mark.usefixtures("unchecked")
def test_a_choice_given_as_a_string_is_the_choice_or_is_refused() -> None:
    kind: Any = "layer"
    try:
        config = NormConfig(kind=kind)
    except ConfigError:
        return
    assert config.kind is NormKind.LAYER


def test_a_recurrent_model_of_odd_width_is_refused() -> None:
    with pytest.raises(ConfigError):
        RecurrentConfig(vocab_size=9, width=5)


def test_a_shared_table_that_is_scaled_in_one_stack_only_is_refused() -> None:
    scaled = replace(T5_DECODER, embedding=EmbeddingConfig(vocab_size=9, scaled=True))
    with pytest.raises(ConfigError):
        replace(T5, decoder=scaled)


@pytest.mark.parametrize(
    "changes",
    [
        {"beta_fast": -1.0},
        {"beta_slow": 0.0},
        {"attention_factor": 0.0},
        {"attention_factor": math.nan},
        {"low_frequency_factor": math.nan},
    ],
    ids=str,
)
def test_a_rotary_scaling_that_cannot_be_computed_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        RotaryScaling(kind=RotaryScalingKind.YARN, factor=2.0, original_length=8, **changes)


def test_dynamic_scaling_of_heads_of_width_two_is_refused() -> None:
    scaling = RotaryScaling(kind=RotaryScalingKind.DYNAMIC, factor=2.0, original_length=8)
    with pytest.raises(ConfigError):
        replace(heads(head_width=2), position=replace(ROTARY, scaling=scaling))


def test_yarn_of_theta_one_is_refused() -> None:
    scaling = RotaryScaling(kind=RotaryScalingKind.YARN, factor=2.0, original_length=8)
    with pytest.raises(ConfigError):
        replace(ROTARY, theta=1.0, scaling=scaling)


@pytest.mark.usefixtures("unchecked")
def test_a_number_beyond_every_float_is_refused() -> None:
    with pytest.raises(ConfigError):
        NormConfig(epsilon=10**400)
