"""An error travels as text and comes back as what it was."""

import pytest

from clearhead.corpora import Failure
from clearhead.errors import Busy, ClearheadError, TextError


def test_an_error_comes_back_as_what_it_was() -> None:
    error = TextError("too long", got=7, expected="at most 5", advice="--truncate")
    again = Failure.read(Failure.of(error).written).error()
    assert type(again) is TextError
    assert str(again) == str(error)


def test_one_that_needs_more_than_words_comes_back_as_the_root() -> None:
    error = Busy("all are at work", retry_after=2.0, got=9)
    again = Failure.read(Failure.of(error).written).error()
    assert type(again) is ClearheadError
    assert str(again) == str(error)


def test_a_kind_that_is_not_known_is_still_an_error() -> None:
    with pytest.raises(ClearheadError, match="lost"):
        raise Failure(kind="NoSuchKind", problem="lost").error()
