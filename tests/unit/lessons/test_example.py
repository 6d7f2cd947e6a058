"""What an example says about the notes: agreement to the digits that they print."""

import pytest
import torch

from clearhead.lessons import EXAMPLES, Result, WorkedExample, page, written
from clearhead.lessons.written import Tone


@pytest.mark.parametrize(
    ("computed", "printed", "agrees"),
    [
        (0.99995, 0.999, True),
        (0.4938, 0.491, False),
        ((0.8415, 0.5403), (0.841, 0.54), True),
        ((1.0, 2.0), (1, 2), True),
        ((1.0, 2.0), (1, 2, 3), False),
        (((1.0, 2.0),), ((1.0, 4.0),), False),
        ("(6, 4)", "(6, 4)", True),
        ("5 of 5", "the first alone", False),
        (5, 10, False),
        (5, None, None),
    ],
)
def test_agreement(computed: object, printed: object, agrees: bool | None) -> None:
    assert Result(name="x", computed=computed, printed=printed).agrees is agrees


EXAMPLE = WorkedExample(
    key="E0",
    title="A <title>",
    shows="Some words. " * 12,
    results=(
        Result(name="right", computed=(0.12345, -0.00001), printed=(0.12, 0.0), columns=("a", "b"), digits=2),
        Result(
            name="wrong",
            computed=((1.0, 2.0), (3.0, 4.0)),
            printed=((1.0, 2.0), (3.0, 5.5)),
            rows=("x", "y"),
            remark="Why.",
        ),
        Result(name="short", computed="word"),
        Result(name="count", computed=12_345),
        Result(name="claim", computed="yes", printed="no"),
        Result(name="long", computed=tuple(float(value) for value in range(30))),
    ),
)


def test_lines_say_what_they_are_and_fit() -> None:
    lines = list(written(EXAMPLE, width=60))
    assert max(len(line.text) for line in lines) <= 60
    texts = [line.text for line in lines]
    assert "    0.12  0.00" in texts
    assert "    = as the notes print" in texts
    assert "    x    1    2" in texts
    assert "    y    3  5.5" in texts
    assert "  count  12,345" in texts
    assert "    ≠ the notes say: no" in texts
    tones = {line.text.strip(): line.tone for line in lines}
    assert tones["≠ the notes print"] is Tone.WRONG
    assert tones["Why."] is Tone.REMARK
    assert tones["= as the notes print"] is Tone.PRINTED


def test_the_page_escapes_and_holds_both_numbers() -> None:
    text = page([EXAMPLE])
    assert "A &lt;title&gt;" in text
    assert "<td>5.5</td>" in text
    assert "<td>4.0000</td>" in text
    assert "src=" not in text


def test_results_are_found_by_name() -> None:
    assert EXAMPLE["count"].computed == 12_345
    with pytest.raises(KeyError, match="E0 has no result 'none'"):
        EXAMPLE["none"]


def test_the_registry_is_complete_and_in_order() -> None:
    assert list(EXAMPLES) == [f"E{number}" for number in range(1, 14)]
    assert all(callable(work) for work in EXAMPLES.values())


def test_working_an_example_leaves_the_generator_alone() -> None:
    before = torch.get_rng_state()
    for key in ("E3", "E9", "E11", "E13"):
        EXAMPLES[key]()
    assert torch.equal(before, torch.get_rng_state())
