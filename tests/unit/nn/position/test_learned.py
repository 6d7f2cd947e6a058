import pytest
import torch

from clearhead.errors import TextError
from clearhead.nn import LearnedPosition


def table() -> LearnedPosition:
    position = LearnedPosition(max_length=4, width=2)
    with torch.no_grad():
        position.weight.copy_(torch.arange(8.0).view(4, 2))
    return position


def test_a_place_has_its_row() -> None:
    assert table()(torch.tensor([[3, 0], [1, 1]])).tolist() == [[[6, 7], [0, 1]], [[2, 3], [2, 3]]]


def test_a_place_beyond_the_table_says_how_many_there_are() -> None:
    with pytest.raises(TextError) as caught:
        table()(torch.tensor([[0, 4]]))
    assert caught.value.got == "5 tokens"
    assert caught.value.expected == "at most 4"
    assert caught.value.advice


def test_only_the_rows_that_were_read_are_trained() -> None:
    position = table()
    position(torch.tensor([[2]])).sum().backward()
    assert position.weight.grad is not None
    assert position.weight.grad.tolist() == [[0, 0], [0, 0], [1, 1], [0, 0]]
