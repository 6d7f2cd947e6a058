"""Texts grouped into batches."""

from hypothesis import given
from hypothesis import strategies as st

from clearhead.engine.batching import buckets, even_buckets

LENGTHS = st.lists(st.integers(1, 60), max_size=200)


@given(lengths=LENGTHS, tokens=st.integers(1, 400), multiple=st.integers(1, 4), most=st.integers(60, 800))
def test_every_text_is_in_one_batch_that_is_not_too_large(
    lengths: list[int], tokens: int, multiple: int, most: int
) -> None:
    for batches in (
        even_buckets(lengths, tokens=tokens, multiple=multiple, most_tokens=most),
        buckets(lengths, most_tokens=most),
    ):
        assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
        assert [lengths[place] for batch in batches for place in batch] == sorted(lengths, reverse=True)
        assert all(len(batch) * lengths[batch[0]] <= most for batch in batches)


@given(lengths=st.lists(st.integers(1, 40), min_size=300, max_size=400), multiple=st.integers(1, 4))
def test_even_batches_have_about_the_same_work(lengths: list[int], multiple: int) -> None:
    batches = even_buckets(lengths, tokens=1000, multiple=multiple, most_tokens=10**6)
    work = [sum(lengths[place] for place in batch) for batch in batches]
    assert len(batches) % multiple == 0
    assert max(work) - min(work) <= 2 * max(lengths)
    assert sum(lengths) / len(batches) <= 1500


def test_no_texts_are_no_batches() -> None:
    assert even_buckets([], tokens=100) == []
