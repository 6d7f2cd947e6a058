import pytest
import torch

from clearhead.engine import read
from clearhead.errors import DecodingError, TextError
from clearhead.models import EncoderOnly
from clearhead.testing import TinyModel
from clearhead.text import Encoding

TINY = TinyModel("bert")
TEXTS = [TINY.tokenizer.encode(text) for text in ["a", "some words here", "ab", "four"]]


def network() -> EncoderOnly:
    assert isinstance(TINY.model, EncoderOnly)
    return TINY.model.eval()


def test_every_text_is_read_as_if_alone() -> None:
    seen = []
    for reading in read(network(), TEXTS, most_tokens=12):
        for row, place in enumerate(reading.places):
            n_real = int(reading.mask_BS[row].sum())
            assert n_real == len(TEXTS[place])
            with torch.no_grad():
                alone = network()(torch.tensor([TEXTS[place].ids])).hidden_BSD[0]
            assert torch.allclose(reading.output.hidden_BSD[row, :n_real], alone, atol=1e-5)
            seen.append(place)
    assert sorted(seen) == [0, 1, 2, 3]


def test_a_text_beyond_the_context_is_refused_before_anything_is_read() -> None:
    long = TINY.tokenizer.encode("x" * 65)
    with pytest.raises(DecodingError) as caught:
        next(read(network(), [TEXTS[0], long]))
    assert caught.value.got == "65 tokens"
    assert caught.value.expected == "at most 64"


def test_an_empty_text_is_refused_alone_and_in_company() -> None:
    empty = Encoding(ids=(), pieces=(), offsets=(), special=(), segments=())
    for texts in ([empty], [TEXTS[0], empty]):
        with pytest.raises(TextError, match="empty"):
            next(read(network(), texts))
