"""The wire format of protocol buffers, read within bounds: tagged numbers and runs of bytes, nothing else.

Takes: bytes that claim to be a message.
Gives: its fields in order, by number, without knowing what they mean.
Uses:  errors.
Never: generated code, or a length that the bytes do not bear out.

    message = (key value)*      key = number · 8 + wire type
    wire type   0 varint   1 eight bytes   2 a length, then as many bytes   5 four bytes

A varint holds seven bits a byte, the lowest first; the top bit says that another byte follows.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clearhead.errors import TextError

__all__ = ["Field", "as_bytes", "as_flag", "as_float", "as_int", "fields"]

_VARINT, _EIGHT, _RUN, _FOUR = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_INT_BITS = 32


class Field(NamedTuple):
    """One field of a message: a number for a varint, bytes for everything else."""

    number: int
    value: int | bytes


def fields(message: bytes, *, name: Path) -> Iterator[Field]:
    """The fields of a message, in the order of the file.

    Args:
        message: The message's bytes.
        name: The file that they came from, for errors.
    """
    place = 0
    while place < len(message):
        key, place = _varint(message, place, name)
        number, wire_type = key >> 3, key & 7
        if number == 0:
            raise _broken(name, "field number 0")
        if wire_type == _VARINT:
            value, place = _varint(message, place, name)
            yield Field(number, value)
            continue
        if wire_type == _RUN:
            length, place = _varint(message, place, name)
        elif wire_type in (_EIGHT, _FOUR):
            length = 8 if wire_type == _EIGHT else 4
        else:
            raise _broken(name, f"wire type {wire_type}")
        if length > len(message) - place:
            raise _broken(name, f"{length} bytes claimed, {len(message) - place} left")
        yield Field(number, message[place : place + length])
        place += length


def as_int(field: Field, *, name: Path) -> int:
    """A field as a signed whole number."""
    if not isinstance(field.value, int):
        raise _broken(name, f"bytes where field {field.number} holds a number")
    low = field.value & (2**_INT_BITS - 1)
    return low - 2**_INT_BITS if low >= 2 ** (_INT_BITS - 1) else low


def as_flag(field: Field, *, name: Path) -> bool:
    """A field as a yes or no."""
    return as_int(field, name=name) != 0


def as_float(field: Field, *, name: Path) -> float:
    """A field as a four-byte float."""
    if not isinstance(field.value, bytes) or len(field.value) != 4:
        raise _broken(name, f"field {field.number} is no four-byte float")
    return float(struct.unpack("<f", field.value)[0])


def as_bytes(field: Field, *, name: Path) -> bytes:
    """A field as the bytes it holds: a string or a message of its own."""
    if not isinstance(field.value, bytes):
        raise _broken(name, f"a number where field {field.number} holds bytes")
    return field.value


def _varint(message: bytes, place: int, name: Path) -> tuple[int, int]:
    """A varint and the place after it."""
    value = 0
    for n_read, byte in enumerate(message[place : place + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * n_read)
        if byte < 0x80:
            return value, place + n_read + 1
    raise _broken(name, "a number that does not end")


def _broken(name: Path, what: str) -> TextError:
    return TextError(
        "a SentencePiece file that cannot be read",
        got=f"{name}: {what}",
        expected="a model as SentencePiece writes it",
        advice="fetch the file again; it may have been cut short",
    )
