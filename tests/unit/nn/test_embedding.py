from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from clearhead.config import EmbeddingConfig, StackConfig, preset
from clearhead.errors import ShapeMismatch, TextError, WeightsError
from clearhead.nn import InputEmbedding, TokenEmbedding
from clearhead.nn.initialise import initialise
from clearhead.probe import Recorder, listen

IDS = torch.tensor([[1, 4, 0]])
PLACES = torch.arange(3).unsqueeze(0)


def bert_stack() -> StackConfig:
    stack = preset("tiny", architecture="bert", vocab_size=5).encoder
    assert stack is not None
    return stack


def make(stack: StackConfig) -> InputEmbedding:
    token = TokenEmbedding(vocab_size=stack.embedding.vocab_size, width=stack.width, scaled=stack.embedding.scaled)
    embedding = InputEmbedding(config=stack, token=token)
    initialise(embedding)
    return embedding.eval()


def test_an_id_has_its_row() -> None:
    embedding = TokenEmbedding(vocab_size=3, width=4)
    embedding.set_rows(torch.arange(12.0).view(3, 4).tolist())
    assert embedding(torch.tensor([[2, 0]])).tolist() == [[[8, 9, 10, 11], [0, 1, 2, 3]]]


def test_a_scaled_row_is_multiplied_by_the_root_of_the_width() -> None:
    embedding = TokenEmbedding(vocab_size=3, width=4, scaled=True)
    with torch.no_grad():
        embedding.weight.fill_(1.5)
    assert embedding(IDS[:, :1]).tolist() == [[[3.0] * 4]]


ROWS = [[0.5, -1.0], [2.0, 3.0], [0.0, 0.25]]


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    "vectors",
    [
        pytest.param(ROWS, id="lists"),
        pytest.param(np.array(ROWS), id="array"),
        pytest.param(np.array(ROWS, dtype=np.float32), id="float32-array"),
        pytest.param(torch.tensor(ROWS), id="tensor"),
    ],
)
def test_word_vectors_come_out_as_they_went_in(vectors: Any, scaled: bool) -> None:
    embedding = TokenEmbedding(vocab_size=3, width=2, scaled=scaled)
    embedding.set_rows(vectors)
    torch.testing.assert_close(embedding(torch.tensor([[2, 1, 0]]))[0], torch.tensor(ROWS)[[2, 1, 0]])
    assert embedding.weight.requires_grad


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (0, 2), (3, 2, 1)])
def test_vectors_of_another_shape_are_refused_and_nothing_changes(shape: tuple[int, ...]) -> None:
    embedding = TokenEmbedding(vocab_size=3, width=2)
    embedding.set_rows([[1.0, 1.0]] * 3)
    with pytest.raises(ShapeMismatch) as caught:
        embedding.set_rows(np.zeros(shape))
    assert caught.value.got == shape
    assert caught.value.expected == (3, 2)
    assert embedding.weight.equal(torch.ones(3, 2))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_vectors_that_are_not_finite_are_refused_and_nothing_changes(value: float) -> None:
    embedding = TokenEmbedding(vocab_size=3, width=2)
    embedding.set_rows([[1.0, 1.0]] * 3)
    with pytest.raises(WeightsError):
        embedding.set_rows([[0.0, 0.0], [0.0, value], [0.0, 0.0]])
    assert embedding.weight.equal(torch.ones(3, 2))


def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(WeightsError):
        TokenEmbedding(vocab_size=3, width=2).set_rows([[1.0, 2.0], [1.0], [1.0, 2.0]])


@pytest.mark.parametrize("wrong", [5, -1])
def test_an_id_outside_the_vocabulary_says_which_ids_there_are(wrong: int) -> None:
    with pytest.raises(TextError) as caught:
        make(bert_stack())(torch.tensor([[0, wrong, 2]]), positions=PLACES)
    assert str(wrong) in str(caught.value.got)
    assert caught.value.expected == "0 to 4"


def test_the_input_is_the_normalised_sum_of_token_position_and_segment() -> None:
    embedding = make(bert_stack())
    assert embedding.norm is not None
    segments = torch.tensor([[0, 0, 1]])
    recorder = Recorder()
    with listen(recorder):
        x = embedding(IDS, positions=PLACES, segment_ids_BT=segments)
    assert list(recorder) == ["token", "position", "segment", "norm"]
    assert recorder["segment"].equal(embedding.segment(segments))
    torch.testing.assert_close(x, embedding.norm(recorder["token"] + recorder["position"] + recorder["segment"]))
    assert x.equal(recorder["norm"])


def test_a_text_without_segments_is_in_the_first() -> None:
    embedding = make(bert_stack())
    first = embedding(IDS, positions=PLACES, segment_ids_BT=torch.zeros_like(IDS))
    assert embedding(IDS, positions=PLACES).equal(first)
    assert not embedding(IDS, positions=PLACES, segment_ids_BT=torch.ones_like(IDS)).equal(first)


def test_what_the_configuration_leaves_out_is_not_there() -> None:
    stack = replace(bert_stack(), embedding=EmbeddingConfig(vocab_size=5))
    recorder = Recorder()
    with listen(recorder):
        make(stack)(IDS, positions=PLACES)
    assert list(recorder) == ["token", "position"]
