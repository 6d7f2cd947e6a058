import re

import pytest

from clearhead.axes import AXES, legend, read


def test_each_letter_has_a_name_and_a_colour_of_its_own() -> None:
    assert all(letter == axis.letter and re.fullmatch("[A-Z]", letter) for letter, axis in AXES.items())
    assert len({axis.name for axis in AXES.values()}) == len(AXES)
    assert len({axis.colour for axis in AXES.values()}) == len(AXES)
    assert all(re.fullmatch("#[0-9a-f]{6}", axis.colour) for axis in AXES.values())


@pytest.mark.parametrize("letters", ["BHQK", "B H Q K"])
def test_letters_are_read_in_their_order(letters: str) -> None:
    assert [axis.name for axis in read(letters)] == ["batch", "head", "query position", "key position"]


def test_nothing_names_no_axis() -> None:
    assert read("") == ()


def test_a_letter_outside_the_legend_is_our_mistake() -> None:
    with pytest.raises(AssertionError, match="'Z'"):
        read("BZ")


def test_the_legend_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        AXES["Z"] = AXES["B"]  # pyright: ignore[reportIndexIssue]


def test_the_legend_is_plain_data() -> None:
    assert legend()[0] == {"letter": "B", "name": "batch", "colour": AXES["B"].colour}
    assert [row["letter"] for row in legend()] == list(AXES)
