"""A SentencePiece file: its pieces with their scores and kinds, and how it prepares a text.

Takes: a .model or .spm file.
Gives: SpmFile, checked: pieces known once each, one unknown, finite scores, every byte where bytes are needed.
Uses:  errors, files, published.wire.
Never: segments a text.

The numbers of the fields are those of SentencePiece's published message definition (Kudo and Richardson 2018).
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from clearhead.errors import TextError
from clearhead.text.files import read_bounded
from clearhead.text.published.wire import as_bytes, as_flag, as_float, as_int, fields

__all__ = ["BYTE_PIECES", "MAX_SPM_BYTES", "Algorithm", "Piece", "PieceKind", "SpmFile", "read_spm"]

MAX_SPM_BYTES = 32 * 2**20
MAX_PIECE_CHARACTERS = 256
BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""How the vocabulary spells each byte."""

# Fields of the model, of a piece, of what it was trained with, and of the normaliser.
_PIECES, _TRAINER, _NORMALISER = 1, 2, 3
_SPELLING, _SCORE, _KIND = 1, 2, 3
_ALGORITHM, _SPACE_AFTER, _BYTE_FALLBACK = 3, 24, 35
_CHARSMAP, _DUMMY_PREFIX, _REMOVE_SPACES, _ESCAPE_SPACES = 2, 3, 4, 5


class Algorithm(IntEnum):
    """How a model finds its pieces in a text; the numbers are the file's."""

    UNIGRAM = 1
    BPE = 2


class PieceKind(IntEnum):
    """What a piece is for; the numbers are the file's."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Piece(NamedTuple):
    """One entry of the vocabulary; its id is its place in the file."""

    spelling: str
    score: float
    kind: PieceKind


@dataclass(kw_only=True)
class SpmFile:
    """What a SentencePiece file says; the defaults are what it means where it says nothing.

    Attributes:
        name: The file.
        pieces: The vocabulary in the order of its ids.
        algorithm: How pieces are found.
        byte_fallback: Whether an unknown character is written as its bytes.
        charsmap: The rules of the normaliser, compiled; empty for none.
        dummy_prefix: Whether a space is put before a text.
        remove_spaces: Whether outer spaces go and inner runs of them become one.
    """

    name: Path
    pieces: list[Piece] = field(default_factory=list[Piece])
    algorithm: Algorithm = Algorithm.UNIGRAM
    byte_fallback: bool = False
    charsmap: bytes = b""
    dummy_prefix: bool = True
    remove_spaces: bool = True

    def spellings(self, *kinds: PieceKind) -> list[str]:
        """The spellings of the pieces of some kinds, in the order of their ids."""
        return [piece.spelling for piece in self.pieces if piece.kind in kinds]


def read_spm(path: Path) -> SpmFile:
    """A SentencePiece file, or a TextError that names what is wrong with it."""
    found = SpmFile(name=path)
    seen: set[int] = set()
    for entry in fields(read_bounded(path, limit=MAX_SPM_BYTES), name=path):
        seen.add(entry.number)
        if entry.number == _PIECES:
            found.pieces.append(_piece(as_bytes(entry, name=path), path))
        elif entry.number == _TRAINER:
            _read_trainer(found, as_bytes(entry, name=path))
        elif entry.number == _NORMALISER:
            _read_normaliser(found, as_bytes(entry, name=path))
    if seen and not {_TRAINER, _NORMALISER} <= seen:
        raise _refused(
            path, "pieces and nothing behind them", expected="how they were trained; the file may be cut short"
        )
    _check(found)
    return found


def _piece(message: bytes, name: Path) -> Piece:
    spelling, score, kind = b"", 0.0, int(PieceKind.NORMAL)
    for entry in fields(message, name=name):
        if entry.number == _SPELLING:
            spelling = as_bytes(entry, name=name)
        elif entry.number == _SCORE:
            score = as_float(entry, name=name)
        elif entry.number == _KIND:
            kind = as_int(entry, name=name)
    try:
        piece = Piece(spelling.decode("utf-8"), score, PieceKind(kind))
    except UnicodeDecodeError:
        raise _refused(name, f"a piece that is not UTF-8: {spelling[:40]!r}") from None
    except ValueError:
        raise _refused(name, f"a piece of kind {kind}") from None
    if not 0 < len(piece.spelling) <= MAX_PIECE_CHARACTERS or not math.isfinite(score):
        raise _refused(name, f"a piece of {len(piece.spelling)} characters with the score {score}")
    return piece


def _read_trainer(found: SpmFile, message: bytes) -> None:
    for entry in fields(message, name=found.name):
        if entry.number == _ALGORITHM:
            number = as_int(entry, name=found.name)
            if number not in list(Algorithm):
                raise _refused(found.name, f"algorithm {number}", expected="Unigram (1) or BPE (2)")
            found.algorithm = Algorithm(number)
        elif entry.number == _BYTE_FALLBACK:
            found.byte_fallback = as_flag(entry, name=found.name)
        elif entry.number == _SPACE_AFTER and as_flag(entry, name=found.name):
            raise _refused(found.name, "spaces that belong to the word before them", expected="spaces before words")


def _read_normaliser(found: SpmFile, message: bytes) -> None:
    for entry in fields(message, name=found.name):
        if entry.number == _CHARSMAP:
            found.charsmap = as_bytes(entry, name=found.name)
        elif entry.number == _DUMMY_PREFIX:
            found.dummy_prefix = as_flag(entry, name=found.name)
        elif entry.number == _REMOVE_SPACES:
            found.remove_spaces = as_flag(entry, name=found.name)
        elif entry.number == _ESCAPE_SPACES and not as_flag(entry, name=found.name):
            raise _refused(found.name, "spaces that are not written as ▁", expected="spaces written as ▁")


def _check(found: SpmFile) -> None:
    """Refuse what would only show later, as wrong ids."""
    spelling, n_times = next(iter(Counter(piece.spelling for piece in found.pieces).most_common(1)), ("", 0))
    if n_times > 1:
        raise _refused(found.name, f"the piece {spelling!r} {n_times} times", expected="each piece once")
    if not found.spellings(PieceKind.NORMAL):
        raise _refused(found.name, "no pieces", expected="a vocabulary")
    if len(found.spellings(PieceKind.UNKNOWN)) != 1:
        raise _refused(
            found.name, f"{len(found.spellings(PieceKind.UNKNOWN))} unknown pieces", expected="one unknown piece"
        )
    if found.spellings(PieceKind.UNUSED):
        raise _refused(found.name, "pieces marked unused", expected="a vocabulary that is not restricted")
    bytes_found = set(found.spellings(PieceKind.BYTE))
    if bytes_found != (set(BYTE_PIECES) if found.byte_fallback else set()):
        raise _refused(found.name, f"{len(bytes_found)} byte pieces", expected="one for each byte, or none")


def _refused(name: Path, got: str, *, expected: str = "a vocabulary as SentencePiece writes it") -> TextError:
    return TextError("a SentencePiece model that cannot be used", got=f"{name}: {got}", expected=expected)
