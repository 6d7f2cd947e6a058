"""The embedded models: small enough, described, and right where they were asked to be."""

import re
from functools import cache

import pytest

import clearhead
from clearhead.weights.locate import PRETRAINED, embedded_models

NAMES = ["reader", "reader-meaning", "reader-sentiment", "storyteller", "translator"]
MOST_BYTES = 45_000_000
SECTIONS = ["For", "Data", "How it was trained", "How good it is", "Limits"]

load = cache(clearhead.load)


def test_they_are_all_there_and_small() -> None:
    assert sorted(embedded_models()) == NAMES
    assert sum(path.stat().st_size for path in PRETRAINED.rglob("*") if path.is_file()) <= MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_card_that_says_what_it_must(name: str) -> None:
    card = (embedded_models()[name] / "README.md").read_text(encoding="utf-8")
    head, body = card.split("---\n", 2)[1:]
    assert "license: cc-by-sa-4.0" in head
    assert re.findall(r"^## (.+)$", body, re.MULTILINE) == SECTIONS
    assert f"clearhead evaluate {name} " in body
    assert "clearhead train " in body
    assert "/root" not in card and "/work" not in card


def test_a_story_goes_on() -> None:
    story = load("storyteller").complete("Once upon a time, there was a little dog", seed=1, max_new_tokens=60)
    words = re.findall(r"[a-z']+", story.lower())
    assert len(words) > 25
    assert len(set(words)) > 15
