"""Where records come from: one file, or two whose lines belong together.

Takes: paths, the task, and what the user knows about them.
Gives: records one at a time, and a fingerprint by which changed data is noticed.
Uses:  config.checks, errors, text.files, data.{column_names,columns,documents,record,tables,tags}.
Never: holds more of a file than its longest row.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat, zip_longest
from pathlib import Path
from typing import Any

from clearhead.config.checks import require_positive
from clearhead.data.column_names import is_language
from clearhead.data.columns import find_columns, make_record
from clearhead.data.documents import read_document, read_parts
from clearhead.data.record import Record, Task
from clearhead.data.tables import SAMPLE_ROWS, FileKind, kind_of, read_table
from clearhead.data.tags import check_tag
from clearhead.errors import ConfigError, TextError
from clearhead.text.files import read_lines

__all__ = ["Source", "fingerprint", "read_records"]

MAX_WEIGHT = 1000.0
_KINDS = ".txt, .tsv, .csv or .jsonl, or one of these with .gz behind it"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where records come from.

    Attributes:
        paths: One file, or two aligned files: source lines, target lines.
        task: What the records are for.
        columns: The columns of a table by name, or by number from 0, in the order that the task needs; None: found.
        tag: The target language of a translation, where one model writes several.
        weight: How often an epoch draws each record: 2 is twice, 0.5 every other time.
        document: Whether a .txt file is one text, not a text a line.
    """

    paths: tuple[Path, ...]
    task: Task
    columns: tuple[str, ...] | None = None
    tag: str | None = None
    weight: float = 1.0
    document: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.paths) <= 2:
            raise ConfigError("a source of too many or no files", got=len(self.paths), expected="one, or two aligned")
        require_positive("weight", self.weight)
        if self.weight > MAX_WEIGHT:
            raise ConfigError("a weight that is too large", got=self.weight, expected=f"at most {MAX_WEIGHT:g}")
        if len(self.paths) == 2 and (self.columns or self.document or self.task.reads_running_text):
            raise ConfigError(
                "two files where one is needed",
                got=", ".join(map(str, self.paths)),
                expected="aligned files for pairs of lines, without columns",
                advice="one source for each file",
            )
        if self.document and not (self.task.reads_running_text and kind_of(self.paths[0]) in (None, FileKind.TEXT)):
            raise ConfigError(
                "a source that cannot be one document", got=self.paths[0], expected="a .txt file for a language model"
            )
        if self.tag is not None:
            check_tag(self.tag)

    @property
    def name(self) -> str:
        """The source as a message names it."""
        return " + ".join(path.name for path in self.paths)


def read_records(source: Source) -> Iterator[Record]:
    """The records of a source, one at a time.

    Raises:
        TextError: A file that cannot be read, or a line that makes no record, with the file and the line.
    """
    records = _aligned(source) if len(source.paths) == 2 else _single(source)
    first = next(records, None)
    if first is None:
        raise TextError(
            "a file without any examples", got=", ".join(map(str, source.paths)), expected="at least one line of text"
        )
    yield from chain([first], records)


def fingerprint(source: Source) -> dict[str, Any]:
    """What a source was, so that a run that goes on later can refuse data that has changed."""
    return {
        "files": [_digest(path) for path in source.paths],
        "task": str(source.task),
        "columns": None if source.columns is None else list(source.columns),
        "tag": source.tag,
        "weight": float(source.weight),
        "document": source.document,
    }


def _digest(path: Path) -> dict[str, Any]:
    """A file's name, size and hash, zipped as it is."""
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            return {"name": path.name, "size": stream.tell(), "sha256": digest}
    except OSError as error:
        raise TextError("a file that cannot be read", got=f"{path}: {error.strerror or error}") from None


def _single(source: Source) -> Iterator[Record]:
    path = source.paths[0]
    kind = kind_of(path) or (FileKind.TEXT if is_language(_suffix(path)) else None)
    if kind is None:
        raise TextError("a file of a kind that is not read here", got=path, expected=_KINDS)
    return _from_text(source) if kind is FileKind.TEXT else _from_table(source)


def _from_text(source: Source) -> Iterator[Record]:
    path = source.paths[0]
    if source.task in (Task.TRANSLATE, Task.CLASSIFY):
        raise TextError(
            f"plain text where the task {source.task} needs two columns",
            got=path,
            expected="a .tsv, .csv or .jsonl file, or two aligned files",
        )
    if source.columns is not None:
        raise TextError("columns of a file that has none", got=f"{path}: {', '.join(source.columns)}")
    if source.task is Task.SIMILARITY:
        return (Record(source=line) for line in read_lines(path))
    parts = read_document(path) if source.document else read_parts(path)
    return (Record(source=text, continued=continued) for text, continued in parts)


def _from_table(source: Source) -> Iterator[Record]:
    path = source.paths[0]
    rows = read_table(path)
    n_blank = 0
    first = next(rows, None)
    while first is not None and not first.cells:
        n_blank += 1
        first = next(rows, None)
    if first is None:  # nothing to find columns in
        return
    sample = [first, *islice(rows, SAMPLE_ROWS - 1)]
    filled = [row for row in sample if row.cells]
    keyed = kind_of(path) is FileKind.JSONL
    columns = find_columns(filled, task=source.task, named=source.columns, keyed=keyed, path=path)
    yield from repeat(Record(source=""), n_blank)  # for the cleaning to count
    for row in chain(sample, rows):
        if columns.has_header and row is first:
            continue
        record = make_record(row, columns, task=source.task, path=path)
        yield record if record.tag is not None or source.tag is None else replace(record, tag=source.tag)


def _aligned(source: Source) -> Iterator[Record]:
    """Pairs of lines; the second file holds labels where the task wants those."""
    first, second = source.paths
    tables = [path for path in source.paths if kind_of(path) not in (None, FileKind.TEXT)]
    if tables:
        raise TextError("a table where a file of plain lines is needed", got=tables[0], advice="one source a table")
    for number, (ours, theirs) in enumerate(zip_longest(read_lines(first), read_lines(second)), start=1):
        if ours is None or theirs is None:
            shorter, longer = (first, second) if ours is None else (second, first)
            raise TextError(
                "two files that are not aligned",
                got=f"{shorter} ends after line {number - 1}, {longer} goes on",
                expected="as many lines in one as in the other",
            )
        if source.task is Task.CLASSIFY:
            yield Record(source=ours, label=theirs)
        else:
            yield Record(source=ours, target=theirs, tag=source.tag)


def _suffix(path: Path) -> str:
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.removeprefix(".")
