import json
import math
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import (
    ARCHITECTURES,
    SIZES,
    Activation,
    AttentionConfig,
    Cell,
    EmbeddingConfig,
    FeedForwardConfig,
    HeadConfig,
    HeadKind,
    ModelConfig,
    NormConfig,
    NormKind,
    NormPlacement,
    Pooling,
    PositionConfig,
    PositionKind,
    RecurrentAttention,
    RecurrentConfig,
    RotaryScaling,
    RotaryScalingKind,
    ScorerKind,
    StackConfig,
    TokenIds,
    from_dict,
    preset,
    to_dict,
)
from clearhead.errors import ConfigError

sizes = st.integers(1, 2**31 - 1)
shares = st.floats(0, 1, exclude_max=True)
positives = st.floats(1e-12, 1e12)

norms = st.builds(
    NormConfig,
    kind=st.sampled_from(NormKind),
    placement=st.sampled_from(NormPlacement),
    epsilon=positives,
    final=st.booleans(),
)
feedforwards = st.builds(
    FeedForwardConfig,
    width=sizes,
    activation=st.sampled_from(Activation),
    gated=st.booleans(),
    bias=st.booleans(),
    dropout=shares,
)
scalings = st.builds(
    RotaryScaling, kind=st.sampled_from(RotaryScalingKind), factor=st.floats(1, 64), original_length=sizes
)
positions = st.one_of(
    st.builds(PositionConfig, kind=st.sampled_from(PositionKind), max_length=sizes, theta=positives),
    st.builds(PositionConfig, kind=st.just(PositionKind.ROTARY), scaling=scalings),
)
recurrents = st.builds(
    RecurrentConfig,
    vocab_size=sizes,
    target_vocab_size=st.none() | sizes,
    width=st.integers(1, 500).map(lambda half: 2 * half),
    n_layers=st.integers(1, 9),
    cell=st.sampled_from(Cell),
    attention=st.sampled_from(RecurrentAttention),
    dropout=shares,
)
labels = st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True).map(tuple)
encoder_heads = st.one_of(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from([HeadKind.SEQUENCE_CLASSIFICATION, HeadKind.TOKEN_CLASSIFICATION]),
            "labels": labels,
            "activation": st.sampled_from(Activation),
            "dropout": shares,
        }
    ),
    st.fixed_dictionaries(
        {"kind": st.just(HeadKind.SENTENCE), "pooling": st.sampled_from(Pooling), "normalised": st.booleans()}
    ),
    st.fixed_dictionaries(
        {"kind": st.just(HeadKind.MASKED_LANGUAGE_MODEL), "tied": st.booleans(), "bias": st.booleans()}
    ),
    st.fixed_dictionaries({"kind": st.sampled_from([HeadKind.QUESTION_ANSWERING, HeadKind.NONE])}),
)
decoder_heads = st.fixed_dictionaries(
    {
        "kind": st.just(HeadKind.LANGUAGE_MODEL),
        "tied": st.booleans(),
        "bias": st.booleans(),
        "scaled": st.booleans(),
    }
)


@st.composite
def stacks(draw: st.DrawFn, *, width: int, vocab_size: int) -> StackConfig:
    n_kv_heads = draw(st.sampled_from([None, 1, 2]))
    n_heads = draw(st.sampled_from([2, 4]))
    return StackConfig(
        n_layers=draw(st.integers(1, 100)),
        width=width,
        embedding=EmbeddingConfig(
            vocab_size=vocab_size,
            scaled=draw(st.booleans()),
            n_segments=draw(st.integers(0, 3)),
            norm=draw(st.booleans()),
        ),
        position=draw(positions),
        attention=AttentionConfig(
            n_heads=n_heads,
            n_kv_heads=n_kv_heads,
            head_width=draw(st.sampled_from([None, 6])),
            window=draw(st.none() | sizes),
            scorer=draw(st.sampled_from(ScorerKind)),
            bias=draw(st.booleans()),
            output_bias=draw(st.booleans()),
            dropout=draw(shares),
        ),
        feedforward=draw(feedforwards),
        norm=draw(norms),
        dropout=draw(shares),
    )


@st.composite
def model_parts(draw: st.DrawFn) -> dict[str, Any]:
    """What a model is made of; head and tokens as their arguments.

    (They hold tuples, and beartype looks into a tuple at random, which a strategy may not.)
    """
    width, vocab_size = 16 * draw(st.integers(1, 64)), draw(sizes)
    stack = draw(stacks(width=width, vocab_size=vocab_size))
    has_encoder, has_decoder = draw(st.sampled_from([(True, False), (False, True), (True, True)]))
    # A window looks back, which an encoder does not.
    encoder = replace(stack, attention=replace(stack.attention, window=None))
    return {
        "encoder": encoder if has_encoder else None,
        "decoder": stack if has_decoder else None,
        "head": draw(decoder_heads if has_decoder else encoder_heads),
        "share_embeddings": draw(st.booleans()),
        "tokens": {"pad": draw(st.none() | st.just(0)), "end": tuple(draw(st.lists(sizes, max_size=3)))},
    }


def through_json(config: object) -> Any:
    return json.loads(json.dumps(to_dict(config), allow_nan=False))


def gpt2() -> dict[str, Any]:
    return through_json(preset("tiny", architecture="gpt2", vocab_size=100))


def changed(path: str, value: object) -> dict[str, Any]:
    """The record of a tiny GPT-2 with one value put in place."""
    record = gpt2()
    inner: Any = record
    *steps, last = path.split(".")
    for step in steps:
        inner = inner[step]
    inner[last] = value
    return record


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_at_every_size_survives_json(architecture: str, size: str) -> None:
    config = preset(size, architecture=architecture, vocab_size=1000)
    assert from_dict(ModelConfig, through_json(config)) == config


@given(parts=model_parts())
@settings(max_examples=50, deadline=None)
def test_any_model_survives_json(parts: dict[str, Any]) -> None:
    config = ModelConfig(**{**parts, "head": HeadConfig(**parts["head"]), "tokens": TokenIds(**parts["tokens"])})
    assert from_dict(ModelConfig, through_json(config)) == config


@given(config=recurrents)
@settings(max_examples=30, deadline=None)
def test_any_recurrent_model_survives_json(config: RecurrentConfig) -> None:
    assert from_dict(RecurrentConfig, through_json(config)) == config


def test_a_record_holds_nothing_but_what_json_has() -> None:
    def check(value: object) -> None:
        if isinstance(value, dict):
            for inner in value.values():
                check(inner)
        elif isinstance(value, list):
            for inner in value:
                check(inner)
        else:
            assert type(value) in (str, int, float, bool, type(None))

    check(to_dict(preset("tiny", architecture="bert", vocab_size=9)))
    check(to_dict(HeadConfig(kind=HeadKind.TOKEN_CLASSIFICATION, labels=("a", "b"))))


def test_what_is_not_said_has_its_default() -> None:
    assert from_dict(AttentionConfig, {"n_heads": 2}) == AttentionConfig(n_heads=2)


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("heda", "did you mean head?"),
        ("decoder.n_layer", "did you mean n_layers?"),
        ("decoder.attention.num_heads", "did you mean n_heads or n_kv_heads?"),
        ("decoder.norm.epsilom", "did you mean epsilon?"),
        ("decoder.position.tehta", "did you mean theta?"),
        ("head.xyzzy", None),
    ],
)
def test_an_unknown_key_is_named_with_its_path_and_its_nearest(path: str, advice: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(ModelConfig, changed(path, 1))
    assert caught.value.got == path
    assert caught.value.expected
    assert caught.value.advice == advice


def test_a_misspelt_key_that_must_be_there_is_called_misspelt_and_not_missing() -> None:
    record = gpt2()
    record["decoder"]["widht"] = record["decoder"].pop("width")
    with pytest.raises(ConfigError) as caught:
        from_dict(ModelConfig, record)
    assert caught.value.got == "decoder.widht"
    assert caught.value.advice == "did you mean width?"


@pytest.mark.parametrize("path", ["decoder.width", "decoder.attention.n_heads", "decoder.position.kind"])
def test_a_missing_key_is_named_with_its_path(path: str) -> None:
    record = gpt2()
    inner: Any = record
    *steps, last = path.split(".")
    for step in steps:
        inner = inner[step]
    del inner[last]
    with pytest.raises(ConfigError) as caught:
        from_dict(ModelConfig, record)
    assert caught.value.problem == "a key is missing"
    assert caught.value.got == f"no {path}"
    assert path in str(caught.value.expected)


WRONG = [
    ("decoder", []),
    ("decoder", "gpt2"),
    ("head", None),
    ("decoder.n_layers", "many"),
    ("decoder.n_layers", 2.5),
    ("decoder.n_layers", None),
    ("decoder.n_layers", [2]),
    ("decoder.n_layers", {"n": 2}),
    ("decoder.n_layers", 0),
    ("decoder.n_layers", -1),
    ("decoder.n_layers", 2**31),
    ("decoder.n_layers", 10**400),
    ("decoder.width", math.nan),
    ("decoder.width", math.inf),
    ("decoder.dropout", 1.0),
    ("decoder.dropout", -0.1),
    ("decoder.dropout", math.nan),
    ("decoder.norm.epsilon", math.nan),
    ("decoder.norm.epsilon", math.inf),
    ("decoder.norm.epsilon", 0),
    ("decoder.norm.epsilon", -1e-5),
    ("decoder.norm.epsilon", 10**400),
    ("decoder.norm.kind", "batch"),
    ("decoder.norm.kind", 3),
    ("decoder.norm.final", 2),
    ("decoder.norm.final", "perhaps"),
    ("decoder.position.theta", 0),
    ("decoder.position.n_buckets", 3),
    ("decoder.embedding.vocab_size", 0),
    ("decoder.embedding.n_segments", -1),
    ("decoder.feedforward.width", 0),
    ("head.labels", "abc"),
    ("head.labels", ["a", 3]),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=[f"{path}={str(value)[:12]}" for path, value in WRONG])
def test_a_value_that_is_not_allowed_says_got_and_expected(path: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(ModelConfig, changed(path, value))
    assert caught.value.got is not None
    assert caught.value.expected is not None
    assert path.rpartition(".")[2].replace("width", "") in str(caught.value)


@pytest.mark.parametrize("data", [None, 3, "config", [1], {1: 2}])
def test_what_is_no_record_at_all_is_a_config_error(data: object) -> None:
    with pytest.raises(ConfigError):
        from_dict(ModelConfig, data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("decoder.n_layers", True),
        ("decoder.n_layers", "2"),
        ("decoder.norm.epsilon", True),
        ("decoder.norm.final", "yes"),
        ("decoder.norm.final", 1),
    ],
)
def test_a_value_of_another_type_is_not_quietly_converted(path: str, value: object) -> None:
    with pytest.raises(ConfigError):
        from_dict(ModelConfig, changed(path, value))


def test_a_message_stays_short_however_long_the_value() -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(ModelConfig, changed("decoder.norm.kind", "x" * 10_000))
    assert len(str(caught.value)) < 500


def test_a_message_stays_short_however_long_the_number() -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(ModelConfig, changed("decoder.n_layers", 10**4000))
    assert len(str(caught.value)) < 500


def test_every_configuration_is_frozen_all_the_way_down() -> None:
    def check(config: Any) -> None:
        for field in fields(config):
            with pytest.raises(FrozenInstanceError):
                setattr(config, field.name, None)
            inner = getattr(config, field.name)
            if is_dataclass(inner):
                check(inner)
            hash(inner)

    check(preset("tiny", architecture="t5", vocab_size=9))
    check(RecurrentConfig(vocab_size=9))
