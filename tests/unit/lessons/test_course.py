"""The course: whole, and every answer shown by a computation."""

import re

import pytest

from clearhead.lessons import EXAMPLES
from clearhead.lessons.course import CHAPTERS, QUESTIONS, Chapter, Question

SAID = {
    "tokens": "5 tokens",
    "count": "[1, 0, 1]",
    "queen": "woman: queen",
    "variance": "width 64: 6",
    "sees": "[1, 2, 3, 4, 5]",
    "concatenated": "512",
    "d-k": "8 heads: keys of 64",
    "cost": "20 tokens: 400 cells, 40 tokens: 1,600 cells",
    "one-hot": "king · queen = 0",
    "learned": "sinusoids 0",
    "sizes": "2,099,712",
    "shifted": "[0, 11, 12, 13]",
    "loss": "0.693",
    "once": "encoder ran 1 time",
    "softmax": "10,000 outputs",
    "additive": "dot product 0",
    "bert": "encoder-only",
    "gpt": "decoder-only",
    "t5": "encoder-decoder",
}
"""What the engine must find for the answer that is marked right."""


def test_there_are_enough_questions_and_no_key_twice() -> None:
    assert len(QUESTIONS) >= 30
    assert len(QUESTIONS) == sum(len(chapter.questions) for chapter in CHAPTERS)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.key)
def test_a_chapter_is_whole(chapter: Chapter) -> None:
    assert chapter.text and chapter.title
    assert set(chapter.examples) <= set(EXAMPLES)
    for live in chapter.live:
        assert live.view in ("flow", "attention", "whatif", "compare", "train", "course") and live.says
    for question in chapter.questions:
        assert len(question.choices) >= 2
        assert any(choice.right for choice in question.choices)
        assert not all(choice.right for choice in question.choices)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.key)
def test_the_engine_shows_the_answer(question: Question) -> None:
    shown = question.show()
    assert re.search(r"\d|encoder|decoder|unk", shown)
    assert SAID.get(question.key, "") in shown


def test_claims_that_numbers_must_bear_out() -> None:
    def numbers(key: str) -> list[float]:
        return [float(one) for one in re.findall(r"-?\d+\.\d+", QUESTIONS[key].show())]

    assert numbers("leak")[:3] == [0, 0, 0] and numbers("leak")[3] > 0
    assert numbers("order")[0] < 1e-5 < numbers("order")[1]
    assert numbers("alone")[0] == 0 < numbers("alone")[1]
    the, cat, dog = numbers("tfidf")
    assert the < cat < dog
    assert numbers("bank")[1] < 0.99
    assert all(share > 0 for share in numbers("start-looks"))
    greedy, cached = re.findall(r"\[[\d, ]+\]", QUESTIONS["cache"].show())
    assert greedy == cached
    alone, searched = re.findall(r"\[[\d, ]+\]", QUESTIONS["beams"].show())
    assert alone != searched


def test_answers_are_judged_whole() -> None:
    question = QUESTIONS["transformer"]
    assert question.several
    assert question.judge(frozenset({0, 1, 2}))
    assert not question.judge(frozenset({0, 1}))
    assert not question.judge(frozenset({0, 1, 2, 3}))
