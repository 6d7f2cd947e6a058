"""Stretches of a text with labels."""

import pytest

from clearhead.config import HeadKind
from clearhead.errors import ConfigError
from clearhead.tasks import label
from clearhead.tasks.token_labels import TokenScore, grouped, name_of, token_scores

from .conftest import Make

TEXTS = ["the cat played in paris .", "who ?"]


def tokens(*labels: str) -> list[TokenScore]:
    return [
        TokenScore(index=place + 1, piece="x", label=name, score=0.5, start=2 * place, end=2 * place + 1)
        for place, name in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("labels", "groups"),
    [
        (("O", "B-PER", "I-PER", "O"), [("PER", 2)]),
        (("B-PER", "B-PER"), [("PER", 1), ("PER", 1)]),
        (("I-PER", "I-LOC", "I-LOC"), [("PER", 1), ("LOC", 2)]),
        (("PER", "PER", "O", "PER"), [("PER", 2), ("PER", 1)]),
        (("O", "O"), []),
        ((), []),
    ],
)
def test_neighbours_of_one_label_are_one_stretch(labels: tuple[str, ...], groups: list[tuple[str, int]]) -> None:
    assert [(name_of(group), len(group)) for group in grouped(tokens(*labels))] == groups


def test_stretches_stand_in_the_text(reader: Make) -> None:
    loaded = reader(HeadKind.TOKEN_CLASSIFICATION, labels=("B-PER", "I-PER", "LOC"))
    for text, stretches, scores in zip(TEXTS, label(loaded, TEXTS), token_scores(loaded, TEXTS), strict=True):
        assert "".join(one.word for one in stretches).replace(" ", "") == text.replace(" ", "")
        assert all(one.word == text[one.start : one.end] for one in stretches)
        assert [one.index for one in scores] == list(range(1, len(scores) + 1))
        assert all(1 / 3 <= one.score <= 1 for one in [*stretches, *scores])


def test_another_head_does_not_label(reader: Make) -> None:
    with pytest.raises(ConfigError, match="it can embed"):
        label(reader(HeadKind.NONE), TEXTS)
