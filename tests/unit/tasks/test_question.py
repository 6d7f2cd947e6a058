"""Answers that stand in a passage, and answers in a model's own words."""

from itertools import pairwise

import numpy as np
import pytest

from clearhead.config import HeadKind
from clearhead.errors import DecodingError, TextError
from clearhead.tasks import Span, Written, answer
from clearhead.tasks.question import _windows, find_spans

from .conftest import Make

QUESTION = "where is the cat ?"
PASSAGE = "the cat sat on the mat . paris is in france . who played ?"


def test_spans_are_whole_words_of_the_passage(reader: Make) -> None:
    found = answer(reader(HeadKind.QUESTION_ANSWERING), QUESTION, PASSAGE, n=8)
    assert len({(one.start, one.end) for one in found}) == len(found) == 8
    for one in found:
        assert isinstance(one, Span)
        assert one.text == PASSAGE[one.start : one.end]
        assert one.start == 0 or PASSAGE[one.start - 1] == " "
        assert one.end == len(PASSAGE) or PASSAGE[one.end] == " "
        assert 0 < one.score < 1
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_windows_cover_a_long_passage_and_overlap(reader: Make) -> None:
    loaded = reader(HeadKind.QUESTION_ANSWERING)
    passage = " ".join(np.random.default_rng(0).choice(["cat", "mat", "paris", "who"], 100))
    windows = list(_windows(loaded, QUESTION, passage))
    assert len(windows) > 2
    assert all(len(window) <= loaded.source_limit for window in windows)
    assert all(window.pieces[0] == "[CLS]" and window.pieces[-1] == "[SEP]" for window in windows)
    inside = [
        {
            span
            for span, segment, special in zip(w.offsets, w.segments, w.special, strict=True)
            if segment and not special
        }
        for w in windows
    ]
    assert len(set.union(*inside)) == 100
    assert all(one & other for one, other in pairwise(inside))


def test_an_answer_is_no_longer_than_allowed(reader: Make) -> None:
    loaded = reader(HeadKind.QUESTION_ANSWERING)
    assert {len(one.text.split()) for one in find_spans(loaded, QUESTION, PASSAGE, n=10, longest=1)} == {1}


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_other_models_write_the_answer(writer: Make, name: str) -> None:
    loaded = writer(name, overflow="slide")
    found = answer(loaded, "who ?", PASSAGE, max_new_tokens=4)
    assert len(found) == 1
    assert isinstance(found[0], Written)
    assert answer(loaded, "who ?", max_new_tokens=4)


def test_a_long_passage_is_read_by_pieces_for_a_written_answer(writer: Make) -> None:
    loaded = writer("t5", foreign={"n_positions": 40})
    assert answer(loaded, "who ?", PASSAGE, max_new_tokens=2)[0].tokens


def test_nothing_is_asked_of_nothing(reader: Make) -> None:
    loaded = reader(HeadKind.QUESTION_ANSWERING)
    for question, passage in (("", PASSAGE), (" ", PASSAGE), (QUESTION, ""), (QUESTION, "\n"), (QUESTION, None)):
        with pytest.raises(TextError):
            answer(loaded, question, passage)
    with pytest.raises(TextError, match="no room"):
        answer(loaded, "cat " * 60, PASSAGE)
    with pytest.raises(DecodingError, match="beams"):
        answer(loaded, QUESTION, PASSAGE, beams=2, longest=None, seed=None)
    with pytest.raises(TextError, match="number of answers"):
        answer(loaded, QUESTION, PASSAGE, n=0)
