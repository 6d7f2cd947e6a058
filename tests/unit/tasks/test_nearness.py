"""Sentences picked by what they mean: summaries and answers of encoders."""

from pathlib import Path
from typing import Any

import pytest

from clearhead.config import HeadKind
from clearhead.errors import DecodingError, TextError
from clearhead.tasks import Loaded, Span, answer, embed, nearness, summarize
from clearhead.tasks.nearness import answer_sentences, sentences_of

from .conftest import Make

TEXT = "The cat sat on the mat. Paris is in France.  Who played?\nThe cat is in Paris. The mat is in France."
NEWS = (
    "The river flooded the old town on Monday. Hundreds of people left their homes. "
    "My aunt likes strawberry cake. The mayor said that the water would fall by the weekend. "
    "Soldiers carried sandbags to the bridges. The flood is the worst for forty years."
)


def test_a_sentence_knows_its_place(reader: Make) -> None:
    found = sentences_of(reader(HeadKind.SENTENCE), TEXT)
    assert len(found) == 5
    assert [TEXT[one.start : one.end] for one in found] == [one.text for one in found]


@pytest.mark.parametrize(("asked", "n"), [(None, 2), (1, 1), (3, 3), (9, 5)])
def test_a_summary_is_made_of_sentences_in_their_order(reader: Make, asked: int | None, n: int) -> None:
    loaded = reader(HeadKind.SENTENCE)
    (found,) = summarize(loaded, [TEXT], sentences=asked)
    every = [one.text for one in sentences_of(loaded, TEXT)]
    picked = [sentence for sentence in every if sentence in found.text]
    assert found.text == " ".join(picked)
    assert len(picked) == n


def test_white_space_has_no_summary(reader: Make) -> None:
    assert [one.text for one in summarize(reader(HeadKind.NONE), ["", " \n", "Cat."])] == ["", " \n", "Cat."]


def test_a_sentence_beyond_the_context_is_divided_between_words(reader: Make) -> None:
    loaded = reader(HeadKind.SENTENCE)
    text = "Who? " + "the cat sat on " * 30 + "the mat."
    found = sentences_of(loaded, text)
    assert len(found) > 2
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    assert " ".join(one.text for one in found) == text
    assert all(len(loaded.tokenizer.encode(one.text)) <= loaded.source_limit for one in found)
    (short,) = summarize(loaded, [text], sentences=1)
    assert short.text in [one.text for one in found]


def test_one_text_is_read_once_for_many_questions(reader: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, asked = reader(HeadKind.SENTENCE), list[int]()

    def counted(model: Loaded, texts: list[str], **options: Any) -> Any:
        asked.append(len(texts))
        return embed(model, texts, **options)

    monkeypatch.setattr(nearness, "embed", counted)
    first = [answer_sentences(loaded, question, TEXT) for question in ("who ?", "where ?", "who ?")]
    assert asked == [3, 5, 1, 1, 1]  # passages, sentences, questions
    assert first[0] == first[2]
    answer_sentences(loaded, "who ?", TEXT + " The end.")
    assert len(asked) == 8


def test_vectors_are_made_some_at_a_time(reader: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = answer_sentences(reader(HeadKind.SENTENCE), "who ?", TEXT, n=5)
    monkeypatch.setattr(nearness, "_AT_ONCE", 2)
    assert [one.text for one in answer_sentences(reader(HeadKind.SENTENCE), "who ?", TEXT, n=5)] == [
        one.text for one in whole
    ]


def test_options_of_the_other_kind_are_refused(reader: Make, writer: Make) -> None:
    with pytest.raises(DecodingError, match="beams"):
        summarize(reader(HeadKind.SENTENCE), [TEXT], beams=2)
    with pytest.raises(DecodingError, match="pick"):
        summarize(writer("t5"), [TEXT], sentences=2)
    with pytest.raises(TextError):
        summarize(reader(HeadKind.SENTENCE), [TEXT], sentences=0)
    with pytest.raises(DecodingError, match="beams"):
        answer(reader(HeadKind.SENTENCE), "who ?", TEXT, beams=2)


def test_an_answer_is_a_sentence_of_the_text(reader: Make) -> None:
    loaded = reader(HeadKind.SENTENCE)
    found = answer(loaded, "who ?", TEXT, n=9)
    assert len(found) == 5
    for one in found:
        assert isinstance(one, Span)
        assert one.text == TEXT[one.start : one.end]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert answer(loaded, "who ?", TEXT) == found[:1]
    with pytest.raises(TextError, match="passage"):
        answer(loaded, "who ?")


def test_a_sentence_that_is_the_question_is_nearest(reader: Make) -> None:
    (found,) = answer_sentences(reader(HeadKind.SENTENCE), "Who played?", TEXT)
    assert found.text == "Who played?"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many people had to leave?", "Hundreds of people left their homes."),
        ("What did the soldiers do?", "Soldiers carried sandbags to the bridges."),
        ("When will the water be lower?", "The mayor said that the water would fall by the weekend."),
    ],
)
def test_a_trained_encoder_finds_the_answer(shared: Path, question: str, expected: str) -> None:
    loaded = Loaded.open(shared / "models/all-MiniLM-L6-v2")
    assert answer_sentences(loaded, question, NEWS)[0].text == expected


def test_a_trained_encoder_leaves_out_what_does_not_belong(shared: Path) -> None:
    loaded = Loaded.open(shared / "models/all-MiniLM-L6-v2")
    for n in (1, 2, 3):
        (found,) = summarize(loaded, [NEWS], sentences=n)
        assert "strawberry" not in found.text
        assert "flood" in found.text
