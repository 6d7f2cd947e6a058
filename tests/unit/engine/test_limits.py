import pytest

from clearhead.decoding import DEFAULT_NEW, DecodingSettings
from clearhead.engine import Overflow
from clearhead.engine.batching import buckets
from clearhead.engine.limits import fitted
from clearhead.engine.padding import pad_left, pad_right
from clearhead.errors import DecodingError


def n_new(
    prompt_length: int, context: int | None, overflow: Overflow | None = Overflow.ERROR, **asked: int
) -> int | None:
    settings = fitted(DecodingSettings(**asked), prompt_length=prompt_length, context=context, overflow=overflow)
    assert settings.max_length is None
    return settings.max_new_tokens


def test_the_number_of_new_ids_is_made_definite() -> None:
    assert n_new(3, None) == DEFAULT_NEW
    assert n_new(3, 10) == 7
    assert n_new(3, 10_000) == DEFAULT_NEW
    assert n_new(3, 10, max_new_tokens=7) == 7
    assert n_new(3, 10, max_length=5) == 2
    assert n_new(3, 10, max_length=100) == 7
    assert n_new(3, 10, max_length=2) == 0
    assert n_new(30, 10, Overflow.SLIDE, max_new_tokens=50) == 50
    assert n_new(30, 10, Overflow.SLIDE, max_length=20) == 0
    assert n_new(10, 10, max_new_tokens=0) == 0


def test_more_than_there_is_room_for_is_refused_with_a_way_out() -> None:
    with pytest.raises(DecodingError) as caught:
        n_new(4, 10, max_new_tokens=7)
    assert caught.value.got == "4 tokens and 7 new ones"
    assert caught.value.expected == "at most 10 together"
    assert "max_new_tokens=6" in str(caught.value.advice)
    assert "slide" in str(caught.value.advice)


def test_a_text_that_fills_the_context_is_refused() -> None:
    with pytest.raises(DecodingError) as caught:
        n_new(10, 10)
    assert caught.value.got == "11 tokens"
    assert "slide" in str(caught.value.advice)


def test_who_cannot_slide_is_not_told_to() -> None:
    with pytest.raises(DecodingError) as caught:
        n_new(4, 10, None, max_new_tokens=7)
    assert "slide" not in str(caught.value.advice)


def test_buckets_hold_every_text_once_the_longest_first() -> None:
    lengths = [3, 9, 1, 9, 4, 2, 20, 5]
    batches = buckets(lengths, most_rows=3, most_tokens=20)
    assert sorted(place for batch in batches for place in batch) == list(range(8))
    flat = [lengths[place] for batch in batches for place in batch]
    assert flat == sorted(flat, reverse=True)
    for batch in batches:
        assert len(batch) <= 3
        assert len(batch) == 1 or max(lengths[place] for place in batch) * len(batch) <= 20


def test_a_text_longer_than_a_batch_is_a_batch() -> None:
    assert buckets([50, 1], most_tokens=20) == [[0], [1]]
    assert buckets([]) == []


def test_padding_stands_on_its_side_and_is_masked() -> None:
    ids, mask = pad_left([(1, 2, 3), (4,)], pad_id=9)
    assert ids.tolist() == [[1, 2, 3], [9, 9, 4]]
    assert mask is not None
    assert mask.tolist() == [[True] * 3, [False, False, True]]
    ids, mask = pad_right([(1, 2, 3), (4,)], pad_id=9)
    assert ids.tolist() == [[1, 2, 3], [4, 9, 9]]
    assert mask is not None
    assert mask.tolist() == [[True] * 3, [True, False, False]]
    assert pad_left([(1,), (2,)])[1] is None
