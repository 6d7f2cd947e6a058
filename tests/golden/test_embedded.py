"""The embedded models: small enough, described, and right where they were asked to be."""

import re
from functools import cache

import pytest

import clearhead
from clearhead.weights.locate import PRETRAINED, embedded_models

from .acceptable import ACCEPTABLE, is_acceptable

NAMES = ["reader", "reader-meaning", "reader-sentiment", "storyteller", "translator"]
MOST_BYTES = 45_000_000
SECTIONS = ["For", "Data", "How it was trained", "How good it is", "Limits"]

load = cache(clearhead.load)


def card(name: str) -> str:
    return (embedded_models()[name] / "README.md").read_text(encoding="utf-8")


def test_they_are_all_there_and_small() -> None:
    assert sorted(embedded_models()) == NAMES
    assert sum(path.stat().st_size for path in PRETRAINED.rglob("*") if path.is_file()) <= MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_card_that_says_what_it_must(name: str) -> None:
    head, body = card(name).split("---\n", 2)[1:]
    assert "license: cc-by-sa-4.0" in head
    assert re.findall(r"^## (.+)$", body, re.MULTILINE) == SECTIONS
    assert f"clearhead evaluate {name} " in body
    assert "clearhead train " in body
    assert "/root" not in body and "/work" not in body


def test_a_story_goes_on() -> None:
    story = load("storyteller").complete("Once upon a time, there was a little dog", seed=1, max_new_tokens=60)
    words = re.findall(r"[a-z']+", story.lower())
    assert len(words) > 25
    assert len(set(words)) > 15


@pytest.mark.parametrize(("to", "sentence"), [(to, sentence) for to, known in ACCEPTABLE.items() for sentence in known])
def test_everyday_sentences_come_right_and_as_the_card_says(to: str, sentence: str) -> None:
    found = load("translator").translate(sentence, to=to)
    assert is_acceptable(found, of=sentence, to=to), found
    row = next(line for line in card("translator").splitlines() if line.startswith(f"| {sentence} |"))
    assert " ".join(found.split()) in row


def test_a_bank_keeps_money_or_holds_a_river() -> None:
    translate = load("translator").translate
    assert "banque" in translate("She deposited money in the bank.", to="fr")
    assert re.search(r"\b(rive|berge|bord)", translate("They walked along the bank of the river.", to="fr"))
