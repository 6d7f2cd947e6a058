"""Gaps and what fits them."""

import pytest

from clearhead.config import HeadKind
from clearhead.errors import TextError
from clearhead.tasks import fill
from clearhead.tasks.masks import mask_texts

from .conftest import Make


def test_every_spelling_of_a_gap_is_the_same_gap(reader: Make) -> None:
    loaded = reader(HeadKind.MASKED_LANGUAGE_MODEL)
    texts = ["the [MASK] sat .", "the <mask> sat .", "the ___ sat .", "the ______ sat ."]
    found = fill(loaded, texts)
    assert all(one == found[0] for one in found)
    for filling in found[0][0]:
        assert filling.text == f"the {filling.token.strip().removeprefix('##')} sat ."
        assert loaded.tokenizer.piece_of(filling.token_id).removeprefix("##") in filling.token
    assert loaded.tokenizer.encode("the [MASK] sat .").ids == mask_texts(loaded, texts)[2].encoding.ids


def test_each_gap_has_its_own_words(reader: Make) -> None:
    loaded = reader(HeadKind.MASKED_LANGUAGE_MODEL)
    (gaps,) = fill(loaded, ["[MASK] cat ___"], n=3)
    assert [len(gap) for gap in gaps] == [3, 3]
    assert all(one.text.endswith(" cat ___") for one in gaps[0])
    assert all(one.text.startswith("[MASK] cat ") for one in gaps[1])
    assert all(gap[0].score >= gap[1].score >= gap[2].score > 0 for gap in gaps)


def test_all_words_have_a_score_that_sums_to_one(reader: Make) -> None:
    loaded = reader(HeadKind.MASKED_LANGUAGE_MODEL)
    ((gap,),) = fill(loaded, ["the ___"], n=1000)
    assert len(gap) == loaded.tokenizer.vocab_size
    assert sum(one.score for one in gap) == pytest.approx(1, abs=1e-5)


def test_other_special_tokens_in_a_text_are_text(reader: Make) -> None:
    loaded = reader(HeadKind.MASKED_LANGUAGE_MODEL)
    (masked,) = mask_texts(loaded, ["a [SEP] ___ [CLS]"])
    assert [masked.encoding.pieces.count(token) for token in ("[CLS]", "[SEP]", "[MASK]")] == [1, 1, 1]


def test_a_text_without_a_gap_or_too_long_is_refused(reader: Make) -> None:
    loaded = reader(HeadKind.MASKED_LANGUAGE_MODEL)
    with pytest.raises(TextError, match=r"\[MASK\]"):
        fill(loaded, ["no gap"])
    with pytest.raises(TextError, match="truncate"):
        fill(loaded, ["___ " + "cat " * 60])
    assert len(fill(loaded, ["___ " + "cat " * 60 + "___"], truncate=True)[0]) == 1
    with pytest.raises(TextError, match="no gap is left"):
        fill(loaded, ["cat " * 60 + "___"], truncate=True)
    with pytest.raises(TextError, match="number of words"):
        fill(loaded, ["___"], n=0)
