import inspect
import re

import pytest

from clearhead import errors
from clearhead.errors import ClearheadError, MissingTensor, WeightsError, nearest

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ClearheadError)]


def test_a_message_says_got_expected_try() -> None:
    error = ClearheadError("a width that cannot be split", got=65, expected="a multiple of 4", advice="use 64")
    assert str(error).splitlines() == [
        "a width that cannot be split",
        "  got:      65",
        "  expected: a multiple of 4",
        "  try:      use 64",
    ]


def test_what_is_not_known_is_not_said() -> None:
    assert str(ClearheadError("a problem")) == "a problem"
    assert str(ClearheadError("a problem", got=0)).splitlines()[1:] == ["  got:      0"]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_public_and_drawn_in_the_tree(kind: type[ClearheadError]) -> None:
    assert kind.__name__ in errors.__all__
    assert re.search(rf"\b{kind.__name__}\b", errors.__doc__ or "")


def test_a_missing_tensor_is_a_weights_error() -> None:
    with pytest.raises(WeightsError):
        raise MissingTensor("a tensor is missing")


def test_advice_names_close_spellings() -> None:
    assert nearest("decodr", ["decoder", "encoder"]) == "did you mean decoder or encoder?"
    assert nearest("xyz", ["decoder", "encoder"]) is None
