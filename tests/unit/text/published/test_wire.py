"""Fields of a message, and messages that are none."""

from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.text.published.wire import Field, as_bytes, as_flag, as_float, as_int, fields

from .spm_writer import number, run, varint

NAME = Path("some.model")


def test_fields_come_in_order() -> None:
    content = number(1, 300) + run(2, b"abc") + varint(3 << 3 | 5) + b"\0\0\x80\x3f" + varint(4 << 3 | 1) + bytes(8)
    found = list(fields(content, name=NAME))
    assert found == [Field(1, 300), Field(2, b"abc"), Field(3, b"\0\0\x80\x3f"), Field(4, bytes(8))]
    assert as_int(found[0], name=NAME) == 300
    assert as_bytes(found[1], name=NAME) == b"abc"
    assert as_float(found[2], name=NAME) == 1.0
    assert as_flag(found[0], name=NAME)
    assert list(fields(b"", name=NAME)) == []


def test_negative_numbers_are_written_long() -> None:
    assert as_int(Field(1, 2**64 - 1), name=NAME) == -1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x08", "does not end"),
        (b"\x08" + b"\xff" * 10, "does not end"),
        (b"\x0a\x05abc", "5 bytes claimed, 3 left"),
        (b"\x0a" + varint(2**63) + b"abc", "bytes claimed, 3 left"),
        (b"\x0d\x00", "4 bytes claimed, 1 left"),
        (b"\x0b", "wire type 3"),
        (b"\x00\x00", "field number 0"),
    ],
)
def test_what_is_no_message(content: bytes, problem: str) -> None:
    with pytest.raises(TextError, match=problem) as caught:
        list(fields(content, name=NAME))
    assert "some.model" in str(caught.value)


@pytest.mark.parametrize(
    ("read", "field"),
    [(as_int, Field(1, b"a")), (as_bytes, Field(1, 1)), (as_float, Field(1, b"abc")), (as_float, Field(1, 1))],
)
def test_a_field_of_another_type(read: object, field: Field) -> None:
    with pytest.raises(TextError, match=r"some\.model"):
        read(field, name=NAME)  # pyright: ignore[reportCallIssue]
