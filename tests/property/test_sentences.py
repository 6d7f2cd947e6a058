"""Sentences and passages of every text: nothing is lost, and no text is slow."""

import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clearhead.text.passages import split_passages
from clearhead.text.sentences import join_segments, split_sentences

MARKS = st.lists(
    st.sampled_from([*".!?…।。！ \n\t\"')]([«“1aAbE\u0301\u200d\r\u2028", "Mr", "e.g", "[12]", "Then"]), max_size=60
)
ANY = st.text() | st.text(st.characters()) | MARKS.map("".join)


@given(ANY)
@example("\ud83d. \ude00A")
def test_segments_are_the_text(text: str) -> None:
    segments = split_sentences(text)
    assert join_segments(segments) == text
    assert join_segments(segments, [segment.text for segment in segments if segment.is_sentence]) == text


@given(ANY)
def test_sentences_hold_words_and_gaps_hold_none(text: str) -> None:
    for segment in split_sentences(text):
        assert segment.text
        assert (segment.text.strip() == segment.text) if segment.is_sentence else segment.text.isspace()
        assert not segment.is_sentence or len(segment.text.splitlines()) == 1


@given(ANY)
def test_gaps_are_alternate(text: str) -> None:
    kinds = [segment.is_sentence for segment in split_sentences(text)]
    assert all(former or latter for former, latter in pairwise(kinds))


@given(ANY)
def test_a_sentence_is_one_sentence(text: str) -> None:
    for segment in split_sentences(text):
        assert not segment.is_sentence or split_sentences(segment.text) == [segment]


@given(ANY, st.integers(1, 40))
def test_pieces_fit_and_hold_every_character_that_is_seen(text: str, limit: int) -> None:
    pieces = split_passages(text, limit=limit)
    assert all(1 <= len(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece == piece.strip() and piece in text for piece in pieces)


@given(ANY, st.integers(4, 40))
def test_pieces_fit_by_any_measure(text: str, limit: int) -> None:
    def n_bytes(piece: str) -> int:
        return len(piece.encode("utf-8", "surrogatepass"))

    assert all(n_bytes(piece) <= limit for piece in split_passages(text, limit=limit, length=n_bytes))


UNITS = [
    "x.",
    "A. ",
    "Ab. Cd ",
    ".",
    ". ",
    ")",
    " ",
    "w",
    "你好。",
    ".[1",
    "[12]",
    "e.g. ",
    '?"',
    "e\u0301",
    "12. ",
    ".)",
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    def seconds(n_characters: int) -> float:
        text = "." + unit * (n_characters // len(unit)) + "x"
        start = time.process_time()
        split_passages(text, limit=500)
        return time.process_time() - start

    # Eight times the text would take sixty-four times as long if time grew with its square.
    assert min(seconds(20_000) for _ in range(2)) < 24 * min(seconds(2_500) for _ in range(3)) + 0.02
