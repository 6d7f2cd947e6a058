"""A corpus as passages: each line of a file, or of every text file in a folder.

Takes: a path.
Gives: Corpus: passages with path and line number, and what was passed over.
Uses:  errors, passage; text.
Never: follows a link that a folder holds, reads a file in part, or keeps more than a line in memory.
"""

import codecs
import os
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

from clearhead.errors import TextError
from clearhead.tasks.index.passage import Passage
from clearhead.text.files import read_lines, reading
from clearhead.text.passages import split_passages

__all__ = ["Corpus", "Skipped", "read_passages"]

MAX_FILE_BYTES = 2**30
SUFFIXES = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".csv", ".tsv", ".org", ".tex", ".srt", ".log"})
MAX_LINE_BYTES = 4 * 2**20
_CHUNK_BYTES = 2**20
_DEFAULT_LIMIT = 1000


class Skipped(StrEnum):
    """Why something in a folder was passed over."""

    HIDDEN = "hidden"
    LINK = "link"
    OTHER = "not a text file by its name"
    BINARY = "binary, or not UTF-8"
    LARGE = "too large, or with a line that is"
    UNREADABLE = "unreadable"


class Corpus:
    """Passages to read as often as needed, one at a time.

    Args:
        path: A file of lines, or a folder.
        limit: How long a passage may be.
        length: Measures a passage.
        max_file_bytes: How large a file may be, unzipped.

    Attributes:
        skipped: How much was passed over and why, complete when the passages have been read.
    """

    def __init__(self, *, path: Path, limit: int, length: Callable[[str], int], max_file_bytes: int) -> None:
        self.skipped: Counter[Skipped] = Counter()
        self._path = path
        self._limit = limit
        self._length = length
        self._max_file_bytes = max_file_bytes

    def __iter__(self) -> Iterator[Passage]:
        self.skipped.clear()
        if self._path.is_dir():
            for path in self._text_files():
                yield from self._passages(path)
            return
        reason = _objection(self._path, limit=self._max_file_bytes)
        if reason:
            raise TextError(
                "a file that cannot be searched",
                got=f"{self._path}: {reason}",
                expected=f"UTF-8 text of at most {self._max_file_bytes} bytes",
            )
        yield from self._passages(self._path)

    def _passages(self, path: Path) -> Iterator[Passage]:
        # A name need not be UTF-8, but what an index stores must be.
        name = os.fsencode(path).decode("utf-8", "replace")
        for number, line in enumerate(read_lines(path), 1):
            for piece in split_passages(line, limit=self._limit, length=self._length):
                yield Passage(piece, name, number)

    def _text_files(self) -> Iterator[Path]:
        """The text files of the folder, depth first, by name."""
        waiting = [self._path]
        while waiting:
            path = waiting.pop()
            if path != self._path and (reason := _objection_by_name(path)):
                self.skipped[reason] += 1
            elif path.is_dir():
                try:
                    entries = sorted(path.iterdir(), reverse=True)
                except OSError:
                    self.skipped[Skipped.UNREADABLE] += 1
                else:
                    waiting.extend(entries)
            elif reason := _objection(path, limit=self._max_file_bytes):
                self.skipped[reason] += 1
            else:
                yield path


def read_passages(
    path: Path | str,
    *,
    limit: int = _DEFAULT_LIMIT,
    length: Callable[[str], int] = len,
    max_file_bytes: int = MAX_FILE_BYTES,
) -> Corpus:
    """The passages of a file of lines, or of the text files in a folder and its folders; gzipped ones too.

    A line that is too long becomes several passages, at ends of sentences where it can, with the same number.
    In a folder, what is hidden, a link, not text or too large is passed over and counted; a file that is named
    itself and is not text is refused.

    Args:
        path: The file or folder.
        limit: How long a passage may be.
        length: Measures a passage: its characters by default; a model's tokens fit its window better.
        max_file_bytes: How large a file may be, unzipped.
    """
    path = Path(path)
    try:
        is_there = path.is_file() or path.is_dir()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        raise TextError("no such file or folder", got=f"{str(path)!a}", expected="a file of lines, or a folder")
    return Corpus(path=path, limit=limit, length=length, max_file_bytes=max_file_bytes)


def _objection_by_name(path: Path) -> Skipped | None:
    """Why an entry of a folder is passed over without a look inside, or None."""
    if path.name.startswith("."):
        return Skipped.HIDDEN
    try:
        if path.is_symlink():
            return Skipped.LINK
        if path.is_dir():
            return None
        plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        return None if path.is_file() and plain.suffix.lower() in SUFFIXES else Skipped.OTHER
    except OSError:
        return Skipped.UNREADABLE


def _objection(path: Path, *, limit: int) -> Skipped | None:
    """Why a file is passed over, found by reading all of it once, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_bytes = line_bytes = 0
    try:
        with reading(path) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                n_bytes += len(chunk)
                if b"\0" in chunk:
                    return Skipped.BINARY
                first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
                longest = line_bytes + (first if first >= 0 else len(chunk))
                line_bytes = len(chunk) - last - 1 if last >= 0 else longest
                if n_bytes > limit or longest > MAX_LINE_BYTES:
                    return Skipped.LARGE
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return Skipped.BINARY
    except TextError:
        return Skipped.UNREADABLE
    return None
