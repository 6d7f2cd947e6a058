import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from clearhead.config import Activation, HeadConfig, HeadKind, ModelConfig, Pooling, Size, architecture
from clearhead.models import build
from clearhead.probe import Recorder, listen

V, WIDTH = 11, 8
SIZE = Size(n_layers=1, width=WIDTH, n_heads=2, feedforward_width=12, max_length=12, dropout=0.0)
IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


def model(name: str, head: HeadConfig) -> Any:
    base = architecture(name, size=SIZE, vocab_size=V)
    built = build(replace(base, head=head), seed=0)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel())))
    return built


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", ["gpt2", "original"])
def test_language_model_logits_are_their_formula(name: str, tied: bool, bias: bool, scaled: bool) -> None:
    built = model(name, HeadConfig(kind=HeadKind.LANGUAGE_MODEL, tied=tied, bias=bias, scaled=scaled))
    recorder = Recorder("logits")
    with listen(recorder):
        output = built(IDS) if name == "gpt2" else built(IDS, IDS)
    weight = built.decoder.embedding.token.weight if tied else built.head.untied.weight
    expected = (output.hidden_BTD / (math.sqrt(WIDTH) if scaled else 1)) @ weight.mT
    if bias:
        expected = expected + built.head.bias
    torch.testing.assert_close(output.logits_BTV, expected)
    assert recorder["logits"].equal(output.logits_BTV)
    assert (built.head.untied is None) == tied
    assert (built.head.bias is None) == (not bias)


@pytest.mark.parametrize("name", ["gpt2", "bert", "original"])
def test_without_a_head_there_are_hidden_states_alone(name: str) -> None:
    built = model(name, HeadConfig())
    output = built(IDS, IDS) if name == "original" else built(IDS)
    assert (output.logits if name == "bert" else output.logits_BTV) is None
    assert built.head is None


@pytest.mark.parametrize("tied", [False, True])
def test_masked_language_model_logits_are_their_formula(tied: bool) -> None:
    head = HeadConfig(kind=HeadKind.MASKED_LANGUAGE_MODEL, tied=tied, bias=True, activation=Activation.RELU)
    built = model("bert", head)
    recorder = Recorder("transform", "logits")
    with listen(recorder):
        output = built(IDS)
    hidden = built.head.norm(built.head.transform(output.hidden_BSD).relu())
    table = built.encoder.embedding.token.weight if tied else built.head.vocabulary.untied.weight
    torch.testing.assert_close(output.logits, hidden @ table.mT + built.head.vocabulary.bias)
    torch.testing.assert_close(recorder["transform"], hidden)
    assert recorder["logits"].equal(output.logits)


def test_sequence_classification_reads_the_first_token() -> None:
    head = HeadConfig(
        kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("bad", "good", "mixed"), activation=Activation.TANH
    )
    built = model("bert", head)
    recorder = Recorder("pooled", "logits")
    with listen(recorder):
        output = built(IDS)
    pooled = built.head.pooler.dense(output.hidden_BSD[:, 0]).tanh()
    assert output.logits.shape == (2, 3)
    torch.testing.assert_close(output.logits, built.head.classifier(pooled))
    torch.testing.assert_close(recorder["pooled"], pooled)
    assert recorder["logits"].equal(output.logits)


def test_sequence_classification_reads_the_first_real_token() -> None:
    built = model("bert", HeadConfig(kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("bad", "good")))
    padded = torch.cat([torch.zeros(2, 2, dtype=torch.long), IDS], dim=1)
    mask = torch.tensor([[False, False, True, True, True, True]] * 2)
    torch.testing.assert_close(built(padded, mask_BS=mask).logits, built(IDS).logits)


@pytest.mark.parametrize(
    ("head", "n_outputs"),
    [
        (HeadConfig(kind=HeadKind.TOKEN_CLASSIFICATION, labels=("noun", "verb", "other")), 3),
        (HeadConfig(kind=HeadKind.QUESTION_ANSWERING), 2),
    ],
    ids=["token classification", "question answering"],
)
def test_token_heads_give_a_few_logits_for_every_token(head: HeadConfig, n_outputs: int) -> None:
    built = model("bert", head)
    recorder = Recorder("logits")
    with listen(recorder):
        output = built(IDS)
    assert output.logits.shape == (2, 4, n_outputs)
    torch.testing.assert_close(output.logits, built.head.classifier(output.hidden_BSD))
    assert recorder["logits"].equal(output.logits)


LEFT = torch.tensor([[False, True, True, True], [False, False, True, True]])
RIGHT = LEFT.flip(-1)


def pooled(pooling: Pooling, rows: torch.Tensor) -> torch.Tensor:
    """What pooling makes of the vectors of one text's real tokens."""
    match pooling:
        case Pooling.MEAN:
            return rows.mean(0)
        case Pooling.MAX:
            return rows.amax(0)
        case Pooling.FIRST:
            return rows[0]
        case Pooling.LAST:
            return rows[-1]


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("mask", [None, LEFT, RIGHT], ids=["unpadded", "left", "right"])
@pytest.mark.parametrize("pooling", Pooling)
def test_a_sentence_is_pooled_from_its_real_tokens(
    pooling: Pooling, mask: torch.Tensor | None, normalised: bool
) -> None:
    built = model("bert", HeadConfig(kind=HeadKind.SENTENCE, pooling=pooling, normalised=normalised))
    output = built(IDS, mask_BS=mask)
    assert output.logits is None
    for row in range(2):
        rows = output.hidden_BSD[row] if mask is None else output.hidden_BSD[row, mask[row]]
        expected = pooled(pooling, rows)
        torch.testing.assert_close(output.vector_BD[row], expected / expected.norm() if normalised else expected)


@pytest.mark.parametrize("pooling", Pooling)
def test_a_text_of_padding_alone_still_has_a_finite_vector(pooling: Pooling) -> None:
    built = model("bert", HeadConfig(kind=HeadKind.SENTENCE, pooling=pooling))
    output = built(IDS, mask_BS=torch.tensor([[True] * 4, [False] * 4]))
    assert torch.isfinite(output.vector_BD).all()


@pytest.mark.parametrize("normalised", [False, True])
def test_the_vector_of_a_sentence_is_a_site(normalised: bool) -> None:
    built = model("bert", HeadConfig(kind=HeadKind.SENTENCE, normalised=normalised))
    recorder = Recorder("vector")
    with listen(recorder):
        output = built(IDS)
    assert recorder["vector"].equal(output.vector_BD)


def test_a_pooler_beside_the_head_reads_the_first_token() -> None:
    built = model("bert", HeadConfig(kind=HeadKind.MASKED_LANGUAGE_MODEL, pooler=True))
    recorder = Recorder("pooled")
    with listen(recorder):
        output = built(IDS)
    torch.testing.assert_close(output.pooled_BD, built.pooler.dense(output.hidden_BSD[:, 0]).tanh())
    assert recorder["pooled"].equal(output.pooled_BD)
    assert model("bert", HeadConfig())(IDS).pooled_BD is None


def test_a_head_is_dropped_out_in_training_alone() -> None:
    head = HeadConfig(kind=HeadKind.TOKEN_CLASSIFICATION, labels=("a", "b"), dropout=0.5)
    built = model("bert", head)
    assert built(IDS).logits.equal(built(IDS).logits)
    built.train()
    assert not built(IDS).logits.equal(built(IDS).logits)


def test_a_token_table_filled_with_word_vectors_is_what_the_model_reads() -> None:
    built = model("gpt2", HeadConfig(kind=HeadKind.LANGUAGE_MODEL))
    vectors = torch.randn(V, WIDTH)
    built.decoder.embedding.token.set_rows(vectors.tolist())
    recorder = Recorder("embed.token")
    with listen(recorder):
        output = built(IDS)
    torch.testing.assert_close(recorder["embed.token"], vectors[IDS])
    torch.testing.assert_close(output.logits_BTV, output.hidden_BTD @ vectors.mT)


def test_the_configuration_of_a_model_stays_what_it_was_built_from() -> None:
    config = architecture("bert", size=SIZE, vocab_size=V)
    assert isinstance(config, ModelConfig)
    assert build(config, seed=0).config is config
