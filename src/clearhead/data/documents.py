"""Plain text as examples: a line each, or whole files, long ones in parts.

Takes: a path, gzipped where its name ends in .gz.
Gives: texts, each with whether the next goes on with it.
Uses:  text.files.
Never: holds a whole file, or loses a letter of it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from clearhead.text.files import read_lines

__all__ = ["read_document", "read_parts"]

PART_CHARACTERS = 2048
"""A part of a file ends with the line that reaches this; small, so that a part can be held out for validation."""

LONGEST_PART = 2**16
"""A line without an end in sight is cut here, at a space if it has one."""


def read_document(path: Path) -> Iterator[tuple[str, bool]]:
    """A whole file in parts that end with lines; only the last is not continued."""
    return _marked(_parts(path))


def read_parts(path: Path) -> Iterator[tuple[str, bool]]:
    """The lines of a file, each a text of its own, very long ones in parts."""
    for line in read_lines(path):
        yield from _marked(_cut(line))


def _parts(path: Path) -> Iterator[str]:
    pending: list[str] = []
    length = 0
    for line in read_lines(path, keep_ends=True):
        pending.append(line[:-2] + "\n" if line.endswith("\r\n") else line)
        length += len(pending[-1])
        if length >= PART_CHARACTERS:
            yield from _cut("".join(pending))
            pending, length = [], 0
    if pending:
        yield "".join(pending)


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > LONGEST_PART:
        space = text.rfind(" ", start + 1, start + LONGEST_PART)
        end = start + LONGEST_PART if space < 0 else space
        yield text[start:end]
        start = end
    yield text[start:]


def _marked(parts: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each part with whether another follows."""
    before: str | None = None
    for part in parts:
        if before is not None:
            yield before, True
        before = part
    if before is not None:
        yield before, False
