"""Labels of texts: trained, and in words."""

import pytest
import torch

from clearhead.config import HeadKind
from clearhead.errors import ConfigError, TextError
from clearhead.tasks import classify
from clearhead.tasks.vectors import embed
from clearhead.tasks.zero_shot import ZERO_SHOT_TEMPERATURE, zero_shot

from .conftest import Make

TEXTS = ["the cat sat", "", "paris is in france ."]


def test_scores_of_one_choice_sum_to_one_and_the_highest_is_first(reader: Make) -> None:
    loaded = reader(HeadKind.SEQUENCE_CLASSIFICATION, labels=("bad", "good", "fair"))
    for text, found in zip(TEXTS, classify(loaded, TEXTS), strict=True):
        assert {one.label for one in found} == {"bad", "good", "fair"}
        assert sum(one.score for one in found) == pytest.approx(1)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        alone = classify(loaded, [text])[0]
        assert [one.label for one in found] == [one.label for one in alone]
        assert [one.score for one in found] == pytest.approx([one.score for one in alone], abs=1e-5)


def test_several_labels_may_hold_where_the_folder_says_so(reader: Make) -> None:
    labels = ("bad", "good")
    one = reader(HeadKind.SEQUENCE_CLASSIFICATION, labels=labels)
    several = reader(
        HeadKind.SEQUENCE_CLASSIFICATION, labels=labels, foreign={"problem_type": "multi_label_classification"}
    )
    softmax, sigmoid = (
        {label.label: label.score for label in classify(loaded, TEXTS[:1])[0]} for loaded in (one, several)
    )
    logit = {label: torch.logit(torch.tensor(score)) for label, score in sigmoid.items()}
    expected = torch.stack([logit[label] for label in labels]).softmax(0)
    torch.testing.assert_close(torch.tensor([softmax[label] for label in labels]), expected)


def test_labels_in_words_are_compared_by_meaning(reader: Make) -> None:
    loaded = reader(HeadKind.SENTENCE)
    labels = ["cat", "france"]
    vectors = torch.tensor(embed(loaded, [*TEXTS, "a cat .", "a france ."]))
    expected = (vectors[:3] @ vectors[3:].T / ZERO_SHOT_TEMPERATURE).softmax(-1)
    for row, found in zip(expected, classify(loaded, TEXTS, labels=labels, hypothesis="a {} ."), strict=True):
        scores = {one.label: one.score for one in found}
        torch.testing.assert_close(torch.tensor([scores[label] for label in labels]), row)


def test_entailment_is_asked_where_the_model_has_a_head_for_it(reader: Make) -> None:
    loaded = reader(HeadKind.SEQUENCE_CLASSIFICATION, labels=("contradiction", "neutral", "entailment"))
    alone = zero_shot(loaded, TEXTS, ["cat", "paris"], several=True)
    together = zero_shot(loaded, TEXTS, ["cat", "paris"])
    torch.testing.assert_close(together.sum(-1), torch.ones(3))
    assert not torch.allclose(alone.sum(-1), torch.ones(3))
    with pytest.raises(TextError, match="truncate"):
        zero_shot(loaded, ["cat " * 60], ["mat"])
    assert zero_shot(loaded, ["cat " * 60], ["mat"], truncate=True).shape == (1, 1)


def test_labels_that_are_none_are_refused(reader: Make) -> None:
    loaded = reader(HeadKind.SENTENCE)
    for labels in ([], [""], ["a", "a"]):
        with pytest.raises(TextError, match="labels"):
            classify(loaded, ["x"], labels=labels)
    with pytest.raises(TextError, match="hypothesis"):
        classify(loaded, ["x"], labels=["a"], hypothesis="no place")
    with pytest.raises(ConfigError, match="labels to choose from"):
        classify(loaded, ["x"])


def test_a_text_that_is_too_long_is_refused_or_cut(reader: Make) -> None:
    loaded = reader(HeadKind.SEQUENCE_CLASSIFICATION, labels=("bad", "good"))
    with pytest.raises(TextError, match="truncate"):
        classify(loaded, ["cat " * 60])
    assert classify(loaded, ["cat " * 60], truncate=True) == classify(loaded, ["cat " * 46])
