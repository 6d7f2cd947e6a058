"""A passage with the place that it came from, and its form in an index: a line of JSON.

Takes: a text, a path and a line number; or the bytes of a stored line.
Gives: Passage and Hit; bytes.
Uses:  errors; weights, for JSON from strangers.
Never: opens the path, which only says where to look.
"""

import json
from pathlib import Path
from typing import NamedTuple

from clearhead.errors import TextError, WeightsError
from clearhead.weights.strict_json import parse_object

__all__ = ["MAX_RECORD_BYTES", "Hit", "Passage", "pack_passage", "unpack_passage"]

MAX_RECORD_BYTES = 2**20
_MAX_LINE = 2**53


class Passage(NamedTuple):
    """A piece of text that can be found.

    Attributes:
        text: What is searched and shown.
        path: The file that it came from.
        line: Its line in that file, counted from one; zero where there are no lines.
    """

    text: str
    path: str = ""
    line: int = 0


class Hit(NamedTuple):
    """A passage that was found, and how near it is.

    Attributes:
        score: The cosine of its vector and the query's.
        passage: Its text.
        path: The file that it came from.
        line: Its line in that file.
    """

    score: float
    passage: str
    path: str
    line: int


def pack_passage(passage: Passage) -> bytes:
    """A passage as a line of JSON."""
    record = json.dumps(passage._asdict(), ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        packed = record.encode("utf-8")
    except UnicodeEncodeError:
        where = f"{passage.path!a}, line {passage.line}"
        raise TextError("half a surrogate pair, which is no character", got=where) from None
    if len(packed) > MAX_RECORD_BYTES or not 0 <= passage.line <= _MAX_LINE:
        raise TextError(
            "a passage that an index cannot hold",
            got=f"{passage.path}, line {passage.line}: {len(packed)} bytes",
            expected=f"at most {MAX_RECORD_BYTES} bytes",
            advice="cut it first, for instance with split_passages",
        )
    return packed


def unpack_passage(packed: bytes, *, path: Path) -> Passage:
    """The passage that a line of `path` spells, or a WeightsError that says what is wrong with it."""
    match parse_object(packed, path=path):
        case {"text": str(text), "path": str(source), "line": int(line), **rest} if not rest:
            if 0 <= line <= _MAX_LINE and not isinstance(line, bool) and _is_encodable(text + source):
                return Passage(text, source, line)
        case _:
            pass
    raise WeightsError("a passage that is none", got=f"{path}: {packed[:60]!r}", expected="a text, a path and a line")


def _is_encodable(text: str) -> bool:
    """Whether text can be written anywhere: JSON may spell half a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
