"""What counts as a word."""

import pytest

from clearhead.errors import TextError
from clearhead.text.words import check_text, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("AI changes the world.", ["AI", "changes", "the", "world", "."]),
        ("Don't -- ice-cream?!", ["Don't", "-", "-", "ice-cream", "?", "!"]),
        ("आप कैसे हैं?", ["आप", "कैसे", "हैं", "?"]),
        ("क्\u200dष", ["क्\u200dष"]),
        (" \n\t", []),
    ],
)
def test_words_and_marks(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_words_without_marks() -> None:
    assert split_words("«So», he said: no.", marks=False) == ["So", "he", "said", "no"]


def test_half_a_surrogate_pair_is_refused() -> None:
    assert check_text("pair \U0001f600") == "pair \U0001f600"
    with pytest.raises(TextError, match=r"U\+D83D at character 2"):
        check_text("ab\ud83d")


def test_what_is_not_text_is_refused() -> None:
    with pytest.raises(TextError, match="bytes b'x'"):
        check_text(b"x")
