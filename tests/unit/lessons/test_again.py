"""Worked examples with other numbers: computed anew, checked first, and never compared with the notes."""

import pytest

from clearhead.errors import ConfigError
from clearhead.lessons import EXAMPLES, reworked


@pytest.mark.parametrize("key", list(EXAMPLES))
def test_every_example_begins_with_something_that_can_be_changed(key: str) -> None:
    example = EXAMPLES[key]()
    assert example.inputs
    same = reworked(key, {one.key: one.value for one in example.inputs})
    assert [one.computed for one in same.results] == [one.computed for one in example.results]
    assert [one.printed for one in same.results] == [one.printed for one in example.results]


def test_other_numbers_give_other_results_and_no_printed_ones() -> None:
    found = reworked("E11", {"x": [[1, 0], [0, 1], [0, 0]]})
    assert found["Q = X W"].computed == ((3.0, 1.0, 5.0), (6.0, 9.0, 7.0), (0.0, 0.0, 0.0))
    assert found["Q = X W"].printed is None
    assert EXAMPLES["E11"]()["Q = X W"].printed is not None


def test_other_words() -> None:
    found = reworked("E13", {"pair": ["dog bites man", "man bites dog"]})
    assert any("dog bites man" in one.name for one in found.results)


@pytest.mark.parametrize(
    ("key", "given", "problem"),
    [
        ("E11", {"y": [[1.0]]}, "no such input"),
        ("E11", {"x": [[1.0, 2.0]]}, "another shape"),
        ("E11", {"x": [[1e9, 0.0], [0.0, 1.0], [0.0, 0.0]]}, "out of range"),
        ("E5", {"sizes": [[2.5, 3.0]]}, "not whole"),
        ("E6", {"drawn": [[7, 42]]}, "divide"),
        ("E10", {"sentences": ["a b", "c"]}, "too short"),
        ("E13", {"pair": ["a b", "c d"]}, "share no word"),
        ("E13", {"pair": ["a b"]}, "missing"),
    ],
)
def test_what_cannot_be_worked_out_is_refused(key: str, given: dict[str, list[object]], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        reworked(key, given)  # type: ignore[arg-type]
