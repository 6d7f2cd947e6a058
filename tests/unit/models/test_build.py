from typing import Any

import pytest
import torch

from clearhead.config import (
    ARCHITECTURES,
    Cell,
    Family,
    ModelConfig,
    RecurrentAttention,
    RecurrentConfig,
    Size,
    architecture,
)
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, Recurrent, build
from clearhead.probe import Edit, Recorder, listen

V = 11
SIZE = Size(n_layers=2, width=16, n_heads=4, feedforward_width=24, max_length=12, dropout=0.0)
SOURCE = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
TARGET = torch.tensor([[0, 3, 1], [0, 9, 4]])
KINDS = {
    Family.ENCODER_ONLY: EncoderOnly,
    Family.DECODER_ONLY: DecoderOnly,
    Family.ENCODER_DECODER: EncoderDecoder,
}


def config(name: str) -> ModelConfig:
    return architecture(name, size=SIZE, vocab_size=V)


def run(model: Any) -> Any:
    return model(SOURCE, TARGET) if isinstance(model, EncoderDecoder | Recurrent) else model(SOURCE)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_builds_a_model_of_its_family_and_runs(name: str) -> None:
    model = build(config(name), seed=0)
    assert type(model) is KINDS[model.config.family]
    output = run(model)
    match model.config.family:
        case Family.ENCODER_ONLY:
            assert output.hidden_BSD.shape == (2, 5, 16)
            assert output.logits.shape == (2, 5, V)
        case Family.DECODER_ONLY:
            assert output.hidden_BTD.shape == (2, 5, 16)
            assert output.logits_BTV.shape == (2, 5, V)
        case Family.ENCODER_DECODER:
            assert output.encoded_BSD.shape == (2, 5, 16)
            assert output.hidden_BTD.shape == (2, 3, 16)
            assert output.logits_BTV.shape == (2, 3, V)
    assert all(torch.isfinite(value).all() for value in vars(output).values() if value is not None)


@pytest.mark.parametrize("cell", Cell)
@pytest.mark.parametrize("attention", RecurrentAttention)
@pytest.mark.parametrize("n_layers", [1, 2])
def test_every_recurrent_model_builds_and_runs(cell: Cell, attention: RecurrentAttention, n_layers: int) -> None:
    size = RecurrentConfig(
        vocab_size=V, target_vocab_size=13, width=6, n_layers=n_layers, cell=cell, attention=attention
    )
    output = run(build(size, seed=0))
    assert output.encoded_BSD.shape == (2, 5, 6)
    assert output.hidden_BTD.shape == (2, 3, 6)
    assert output.logits_BTV.shape == (2, 3, 13)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_ids_may_be_of_either_width(dtype: torch.dtype) -> None:
    model = build(config("gpt2"), seed=0)
    assert model(SOURCE.to(dtype)).logits_BTV.equal(model(SOURCE).logits_BTV)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_gradient_flows_to_every_parameter(name: str) -> None:
    model = build(config(name), seed=0).train()
    output = run(model)
    logits = output.logits if isinstance(model, EncoderOnly) else output.logits_BTV
    logits.square().sum().backward()
    unmoved = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert not unmoved


@pytest.mark.parametrize("cell", Cell)
@pytest.mark.parametrize("attention", RecurrentAttention)
def test_a_gradient_flows_to_every_parameter_of_a_recurrent_model(cell: Cell, attention: RecurrentAttention) -> None:
    model = build(RecurrentConfig(vocab_size=V, width=6, n_layers=2, cell=cell, attention=attention), seed=0).train()
    run(model).logits_BTV.square().sum().backward()
    unmoved = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert not unmoved


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_same_seed_gives_the_same_model_and_another_another(name: str) -> None:
    one, same, other = (dict(build(config(name), seed=seed).named_parameters()) for seed in (5, 5, 6))
    assert all(one[key].equal(same[key]) for key in one)
    assert not any(one[key].equal(other[key]) for key in one if "token" in key)


def test_a_seeded_model_disturbs_no_other_random_numbers() -> None:
    torch.manual_seed(0)
    expected = torch.randn(3)
    torch.manual_seed(0)
    build(config("gpt2"), seed=5)
    assert torch.randn(3).equal(expected)


def test_without_a_seed_values_come_from_the_default_generator() -> None:
    torch.manual_seed(0)
    one = build(config("gpt2"))
    two = build(config("gpt2"))
    torch.manual_seed(0)
    again = build(config("gpt2"))
    table = [model.decoder.embedding.token.weight for model in (one, two, again)]
    assert not table[0].equal(table[1])
    assert table[0].equal(table[2])


def test_a_model_is_built_ready_to_run_and_not_in_training() -> None:
    assert not build(config("gpt2"), seed=0).training


def test_a_shared_table_is_one_parameter_and_counts_once() -> None:
    model = build(config("t5"), seed=0)
    assert isinstance(model, EncoderDecoder)
    assert model.encoder.embedding.token is model.decoder.embedding.token
    tables = [name for name, parameter in model.named_parameters() if parameter.shape == (V, 16)]
    assert len(tables) == 1
    assert model.n_parameters == sum(parameter.numel() for parameter in set(model.parameters()))


def test_tables_that_are_not_shared_are_two() -> None:
    shared = config("original")
    apart = ModelConfig(encoder=shared.encoder, decoder=shared.decoder, head=shared.head, share_embeddings=False)
    model = build(apart, seed=0)
    assert isinstance(model, EncoderDecoder)
    assert model.encoder.embedding.token.weight is not model.decoder.embedding.token.weight
    assert model.n_parameters == build(shared, seed=0).n_parameters + V * 16


@pytest.mark.parametrize("name", [name for name, made in ARCHITECTURES.items() if made.encoder and made.decoder])
def test_cross_attention_is_seen_and_changed_at_its_site(name: str) -> None:
    model = build(config(name), seed=0)
    recorder = Recorder("decoder.1.cross.pattern")
    with listen(recorder):
        before = model(SOURCE, TARGET).logits_BTV
    pattern = recorder["decoder.1.cross.pattern"]
    assert pattern.shape == (2, 4, 3, 5)
    torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 4, 3))
    looks_at_last = torch.zeros_like(pattern)
    looks_at_last[..., -1] = 1
    with listen(Edit("decoder.1.cross.pattern", lambda _: looks_at_last)):
        after = model(SOURCE, TARGET).logits_BTV
    assert not torch.allclose(after, before, atol=1e-4)
    with listen(Edit("decoder.1.cross.pattern", lambda _: pattern)):
        torch.testing.assert_close(model(SOURCE, TARGET).logits_BTV, before)


def test_every_target_position_looks_at_every_source_position() -> None:
    recorder = Recorder("decoder.*.cross.pattern")
    with listen(recorder):
        build(config("original"), seed=0)(SOURCE, TARGET)
    for site in recorder:
        assert recorder[site].gt(0).all()


def test_dropout_acts_in_training_alone() -> None:
    dropped = Size(n_layers=1, width=16, n_heads=4, feedforward_width=24, max_length=12, dropout=0.5)
    model = build(architecture("gpt2", size=dropped, vocab_size=V), seed=0)
    assert run(model).logits_BTV.equal(run(model).logits_BTV)
    model.train()
    assert not run(model).logits_BTV.equal(run(model).logits_BTV)
