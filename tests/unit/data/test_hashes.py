"""Hashes are the same everywhere, and the table of them is a set."""

import numpy as np
import pytest

from clearhead.data.hashes import Seen, hash_text, normal_form


def test_a_hash_is_the_same_on_every_machine() -> None:
    assert hash_text("Hello.") == 0xA38B9D6245114A1
    assert hash_text("Hello.", seed=1) == 0x12873358511877C6


def test_a_table_of_hashes_is_a_set() -> None:
    rng = np.random.default_rng(0)
    numbers = [*rng.integers(1, 2**64, 3000, np.uint64).tolist(), *rng.integers(1, 500, 1000).tolist()]
    seen, known = Seen(), set[int]()
    for number in numbers:
        assert (number in seen) == (number in known)
        assert seen.add(number) == (number not in known)
        known.add(number)
    assert len(seen) == len(known)


def test_zero_is_a_hash_like_any_other() -> None:
    seen = Seen()
    assert 0 not in seen
    assert seen.add(0)
    assert not seen.add(0)


def test_what_differs_in_punctuation_case_and_spacing_alone_is_the_same() -> None:
    assert normal_form("Hello,  World!") == normal_form("hello world") != normal_form("hello worlds")
    assert normal_form("?!") == "?!"
    assert normal_form("e\u0301té") == normal_form("Été")


@pytest.mark.parametrize(("one", "other"), [("कि", "का"), ("મા", "મી"), ("มี", "มา"), ("x\u030c", "x")])
def test_vowels_that_are_written_as_marks_are_letters(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)
    assert normal_form(f"«{one}!»") == normal_form(one)


@pytest.mark.parametrize("between", [" ", "_", "-", "…", "\t", "\u00ad", "\u3000", "€", "+"])
def test_what_stands_between_words_does_not_matter(between: str) -> None:
    assert normal_form(f"a{between}b") == "a b"
