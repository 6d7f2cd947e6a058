import math

import pytest
import torch

from clearhead.config import (
    ARCHITECTURES,
    Cell,
    HeadConfig,
    HeadKind,
    RecurrentAttention,
    RecurrentConfig,
    ScorerKind,
    Size,
    architecture,
)
from clearhead.config.model import ModelConfig
from clearhead.models import DecoderOnly, EncoderOnly, Recurrent, build
from clearhead.nn import AdditiveScorer, BatchNorm, TokenEmbedding, make_scorer
from clearhead.nn.initialise import initialise

SIZE = Size(n_layers=1, width=8, n_heads=2, feedforward_width=12, max_length=6)


def refill(model: torch.nn.Module) -> None:
    """Wipes every parameter, then initialises."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(torch.nan)
    initialise(model)


def assert_filled(model: torch.nn.Module) -> None:
    refill(model)
    empty = [name for name, parameter in model.named_parameters() if not torch.isfinite(parameter).all()]
    assert not empty


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_parameter_of_every_architecture_is_filled(name: str) -> None:
    assert_filled(build(architecture(name, size=SIZE, vocab_size=9), seed=0))


HEADS = [
    HeadConfig(kind=HeadKind.MASKED_LANGUAGE_MODEL, tied=False, bias=True),
    HeadConfig(kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("a", "b")),
    HeadConfig(kind=HeadKind.TOKEN_CLASSIFICATION, labels=("a", "b")),
    HeadConfig(kind=HeadKind.QUESTION_ANSWERING),
    HeadConfig(kind=HeadKind.SENTENCE),
]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.kind)
def test_every_parameter_of_every_head_is_filled(head: HeadConfig) -> None:
    encoder = architecture("bert", size=SIZE, vocab_size=9).encoder
    assert_filled(EncoderOnly(config=ModelConfig(encoder=encoder, head=head)))


@pytest.mark.parametrize("cell", Cell)
@pytest.mark.parametrize("attention", RecurrentAttention)
def test_every_parameter_of_every_recurrent_model_is_filled(cell: Cell, attention: RecurrentAttention) -> None:
    config = RecurrentConfig(vocab_size=9, target_vocab_size=7, width=6, n_layers=2, cell=cell, attention=attention)
    assert_filled(Recurrent(config=config))


def test_parts_that_no_architecture_uses_are_filled_too() -> None:
    assert_filled(BatchNorm(width=3))
    assert_filled(make_scorer(ScorerKind.ADDITIVE, n_heads=2, head_width=3))


def test_biases_begin_at_zero_norms_at_one_and_the_rest_differ() -> None:
    model = DecoderOnly(config=architecture("gpt2", size=SIZE, vocab_size=9))
    refill(model)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" in name:
            assert parameter.eq(1).all(), name
        else:
            assert parameter.std() > 0.005, name


def test_linear_maps_keep_variance_and_token_vectors_have_length_one() -> None:
    linear, token, scorer = torch.nn.Linear(300, 500), TokenEmbedding(vocab_size=400, width=100), None
    for module in (linear, token):
        refill(module)
    assert linear.weight.var().item() == pytest.approx(2 / 800, rel=0.05)
    assert token.weight.norm(dim=1).mean().item() == pytest.approx(1, rel=0.05)
    scorer = AdditiveScorer(n_heads=50, head_width=64)
    refill(scorer)
    assert scorer.weight.std().item() == pytest.approx(1 / math.sqrt(64), rel=0.1)


def test_values_come_from_the_default_generator() -> None:
    model = DecoderOnly(config=architecture("llama", size=SIZE, vocab_size=9))
    torch.manual_seed(3)
    initialise(model)
    first = [parameter.clone() for parameter in model.parameters()]
    initialise(model)
    assert not all(one.equal(other) for one, other in zip(first, model.parameters(), strict=True))
    torch.manual_seed(3)
    initialise(model)
    assert all(one.equal(other) for one, other in zip(first, model.parameters(), strict=True))
