"""Hashes are the same everywhere, and the table of them is a set."""

import numpy as np

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


def test_what_differs_in_marks_case_and_spacing_alone_is_the_same() -> None:
    assert normal_form("Hello,  World!") == normal_form("hello world") != normal_form("hello worlds")
    assert normal_form("?!") == "?!"
    assert normal_form("e\u0301té") == normal_form("Été")
