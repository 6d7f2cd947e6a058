"""Pieces of bytes are shown as letters where they complete one, and by a sign where they do not."""

import pytest

from clearhead.testing import ByteTokenizer
from clearhead.trace import named, read_alone
from clearhead.trace.tokens import PART


def shown(text: str) -> list[str]:
    names = ByteTokenizer()
    return [token.shown for token in named(names.encode(text).ids, names)]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("ab", ["a", "b"]),
        ("é!", [PART, "é", "!"]),
        ("कि", [PART, PART, "क", PART, PART, "ि"]),
        ("a😀", ["a", PART, PART, PART, "😀"]),
    ],
)
def test_the_byte_that_completes_a_letter_shows_it(text: str, labels: list[str]) -> None:
    assert shown(text) == labels


def test_no_label_has_a_sign_for_broken_bytes() -> None:
    names = ByteTokenizer()
    ids = names.encode("नमस्ते, Ça va? 😀").ids
    broken = [*ids[1:4], *ids[:2], *ids[-2:], *ids]
    for token in named(broken, names):
        assert token.shown and "\ufffd" not in token.shown


def test_letters_lost_at_the_end_of_a_text_stay_signs() -> None:
    names = ByteTokenizer()
    ids = names.encode("क").ids
    assert [token.shown for token in named(ids[:2], names)] == [PART, PART]
    assert [token.id for token in named(ids, names)] == list(ids)


def test_the_letters_of_all_tokens_are_the_text() -> None:
    text = "आपकैसेहैं?"
    assert "".join(shown(text)).replace(PART, "") == text


def test_a_byte_alone_is_told_from_others_by_its_number() -> None:
    names = ByteTokenizer()
    first, second, _ = names.encode("क").ids
    assert read_alone(first, names) == f"{PART}#{first}"
    assert read_alone(first, names) != read_alone(second, names)
    assert read_alone(names.encode("a").ids[0], names) == "a"
    assert read_alone(names.vocab_size + 1, names) == f"#{names.vocab_size + 1}"
