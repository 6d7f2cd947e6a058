"""Texts as the pieces spell them, and where each character came from."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.text.published.charsmap import Charsmap
from clearhead.text.published.normalise import Normaliser
from clearhead.text.published.spm import Piece, PieceKind, SpmFile

NAME = Path("some.model")
PLAIN = SpmFile(name=NAME)


def prepared(text: str, *, first: bool = True, **changes: object) -> str:
    return Normaliser(model=replace(PLAIN, **changes))(text, first=first).text  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Hi there", "▁Hi▁there"), ("  é   b  ", "▁é▁b"), ("", ""), ("   ", ""), ("▁a▁▁", "▁▁a"), ("a▁", "▁a")],
)
def test_spaces_are_made_visible_and_few(text: str, expected: str) -> None:
    assert prepared(text) == expected


def test_spaces_are_kept_where_the_file_says_so() -> None:
    assert prepared("  a  b ", remove_spaces=False) == "▁▁▁a▁▁b▁"
    assert prepared("a b", dummy_prefix=False) == "a▁b"
    assert prepared("a b", first=False) == "a▁b"


@pytest.mark.parametrize("text", ["Hi there", "  é  there"])
def test_every_character_knows_where_it_stood(text: str) -> None:
    found = Normaliser(model=PLAIN)(text)
    assert len(found.spans) == len(found.text)
    for letter, (start, end) in zip(found.text[1:], found.spans[1:], strict=True):
        assert text[start:end] == letter.replace("▁", " ")
    assert found.spans[0][0] == found.spans[0][1] == len(text) - len(text.lstrip())


def test_a_piece_of_the_users_own_stays_whole() -> None:
    own = [Piece("<a  b>", 0.0, PieceKind.USER_DEFINED)]
    assert prepared("x  <a  b>  y", pieces=own) == "▁x▁<a▁▁b>▁y"


@pytest.mark.parametrize(
    "blob",
    [b"\1", struct.pack("<I", 8), struct.pack("<I", 3) + b"abc", struct.pack("<I", 0) + b"ab", b"\xff" * 8],
)
def test_rules_that_cannot_be_read(blob: bytes) -> None:
    with pytest.raises(TextError, match=r"some\.model"):
        Charsmap(blob=blob, name=NAME)


@pytest.mark.parametrize("unit", [0, 0xFFFFFFFF, 0x3FF, 0x161, 0x80000161])
def test_rules_that_lead_astray_lead_nowhere(unit: int) -> None:
    rules = Charsmap(blob=struct.pack("<I", 1024) + struct.pack("<I", unit) * 256 + b"x\0", name=NAME)
    for letter in "a\x00é漢😀":
        found = rules.match(letter * 3, 0)
        assert found is None or 1 <= found[0] <= 3
        assert rules.is_final(letter) in (True, False)
