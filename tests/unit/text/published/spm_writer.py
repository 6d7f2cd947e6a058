"""SentencePiece files written by hand, to say exactly what a test needs and what no library would write."""

import struct
from collections.abc import Iterable

__all__ = ["NORMAL", "USUAL", "message", "number", "piece", "run", "spm", "varint"]

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def run(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def message(field: int, *parts: bytes) -> bytes:
    return run(field, b"".join(parts))


def piece(spelling: str | bytes, score: float = 0.0, kind: int = NORMAL) -> bytes:
    content = spelling.encode() if isinstance(spelling, str) else spelling
    return message(1, run(1, content), varint(2 << 3 | 5) + struct.pack("<f", score), number(3, kind))


USUAL = (piece("<unk>", kind=UNKNOWN), piece("<s>", kind=CONTROL), piece("</s>", kind=CONTROL))


def spm(pieces: Iterable[bytes], *, algorithm: int = 2, trainer: bytes = b"", normaliser: bytes = b"") -> bytes:
    """A file with the usual three tokens, then some pieces."""
    return b"".join((*USUAL, *pieces, message(2, number(3, algorithm), trainer), message(3, normaliser)))
