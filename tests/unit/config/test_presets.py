import pytest
import torch

from clearhead.config import ARCHITECTURES, SIZES, Family, HeadKind, ModelConfig, architecture, preset
from clearhead.errors import ConfigError
from clearhead.models import EncoderDecoder

ENCODER_DECODERS = {"original", "marian", "t5", "flan-t5"}
DECODERS = {"gpt", "gpt2", "llama"}
ENCODERS = {"bert", "distilbert"}


def n_parameters(config: ModelConfig) -> int:
    """How many parameters a model would have; on the meta device none is allocated."""
    with torch.device("meta"):
        return EncoderDecoder(config=config).n_parameters


def test_the_base_size_is_that_of_the_paper() -> None:
    config = preset("original-base", vocab_size=37_000)
    for stack in (config.encoder, config.decoder):
        assert stack is not None
        assert (stack.n_layers, stack.width, stack.attention.n_heads, stack.feedforward.width) == (6, 512, 8, 2048)
        assert stack.head_width == 64
        assert stack.dropout == 0.1


def test_the_big_size_is_that_of_the_paper() -> None:
    config = preset("original-big", vocab_size=37_000)
    for stack in (config.encoder, config.decoder):
        assert stack is not None
        assert (stack.n_layers, stack.width, stack.attention.n_heads, stack.feedforward.width) == (6, 1024, 16, 4096)
        assert stack.dropout == 0.3


@pytest.mark.parametrize(("size", "millions"), [("original-base", 65), ("original-big", 213)])
def test_the_original_model_has_as_many_parameters_as_the_paper_says(size: str, millions: int) -> None:
    # Table 3 of the paper; it does not say how it rounds or counts biases and norms.
    assert n_parameters(preset(size, vocab_size=37_000)) == pytest.approx(millions * 1e6, rel=0.04)


def test_the_count_of_the_base_model_is_the_sum_of_its_parts() -> None:
    width, hidden, vocabulary = 512, 2048, 37_000
    attention = 4 * (width * width + width)
    feedforward = 2 * width * hidden + hidden + width
    norm = 2 * width
    encoder = 6 * (attention + feedforward + 2 * norm)
    decoder = 6 * (2 * attention + feedforward + 3 * norm)
    assert n_parameters(preset("original-base", vocab_size=vocabulary)) == vocabulary * width + encoder + decoder


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_is_of_its_family(name: str) -> None:
    config = preset("tiny", architecture=name, vocab_size=9)
    expected = {
        **dict.fromkeys(ENCODER_DECODERS, Family.ENCODER_DECODER),
        **dict.fromkeys(DECODERS, Family.DECODER_ONLY),
        **dict.fromkeys(ENCODERS, Family.ENCODER_ONLY),
    }
    assert config.family is expected[name]
    assert config.head.kind is (HeadKind.MASKED_LANGUAGE_MODEL if name in ENCODERS else HeadKind.LANGUAGE_MODEL)
    assert config.head.over_vocabulary


def test_the_architectures_are_those_we_promise() -> None:
    assert set(ARCHITECTURES) == ENCODER_DECODERS | DECODERS | ENCODERS


def test_no_two_architectures_are_the_same_point() -> None:
    made = [preset("tiny", architecture=name, vocab_size=9) for name in ARCHITECTURES]
    assert len(set(made)) == len(made)


def test_an_unknown_size_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        preset("smal", vocab_size=9)
    assert caught.value.got == "smal"
    assert caught.value.expected == ", ".join(SIZES)
    assert "small" in str(caught.value.advice)


def test_an_unknown_architecture_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        architecture("lama", size=SIZES["tiny"], vocab_size=9)
    assert caught.value.got == "lama"
    assert caught.value.expected == ", ".join(ARCHITECTURES)
    assert "llama" in str(caught.value.advice)
