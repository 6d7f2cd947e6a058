"""Long texts in pieces."""

import pytest

from clearhead.errors import TextError
from clearhead.text.passages import split_passages


def test_whole_sentences_as_many_as_fit() -> None:
    text = "One two. Three four.\n\nFive. Six seven eight nine."
    assert split_passages(text, limit=27) == ["One two. Three four.\n\nFive.", "Six seven eight nine."]
    assert split_passages(text, limit=26) == ["One two. Three four.", "Five.", "Six seven eight nine."]
    assert split_passages(text, limit=1000) == [text]


def test_length_can_be_measured_in_anything() -> None:
    def n_words(piece: str) -> int:
        return len(piece.split())

    assert split_passages("A b c. D e. F.", limit=3, length=n_words) == ["A b c.", "D e. F."]


def test_a_long_sentence_is_divided_between_words() -> None:
    assert split_passages("No. One two three four. Yes.", limit=9) == ["No.", "One two", "three", "four.", "Yes."]


def test_a_long_word_is_divided_between_characters() -> None:
    assert split_passages("ab abcdefg ab", limit=3) == ["ab", "abc", "def", "g", "ab"]


@pytest.mark.parametrize(
    "character",
    [
        "e\u0301",
        "क्षि",
        "नि",
        "👨\u200d👩\u200d👧",
        "👍🏽",
        "🇫🇷",
        "❤\ufe0f",
        "\u1112\u1161\u11ab",
        "กำ",
        "\ud83d\ude00",
    ],
)
def test_what_a_reader_sees_as_one_character_stays_whole(character: str) -> None:
    assert split_passages(character * 7, limit=2 * len(character) + 1) == [character * 2] * 3 + [character]


def test_a_character_that_is_itself_too_long_is_divided() -> None:
    assert split_passages("a" + "\u0301" * 5, limit=4) == ["a\u0301\u0301\u0301", "\u0301\u0301"]


def test_a_limit_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(TextError, match="too small for a single character"):
        split_passages("ab", limit=2, length=lambda piece: 3 * len(piece))
    with pytest.raises(TextError, match="1 or more"):
        split_passages("ab", limit=0)


def test_no_text_has_no_pieces() -> None:
    assert split_passages("", limit=5) == split_passages(" \n ", limit=5) == []


def test_little_more_than_a_piece_is_measured_at_a_time() -> None:
    measured: list[int] = []

    def length(piece: str) -> int:
        measured.append(len(piece))
        return len(piece)

    text = "Short one. " * 2000 + "x" * 20_000 + " " + "word " * 4000
    assert all(len(piece) <= 100 for piece in split_passages(text, limit=100, length=length))
    assert sum(measured) < 15 * len(text)
