"""Tables as rows of cells: tab-separated, comma-separated, or one JSON object a line.

Takes: a path, gzipped where its name ends in .gz.
Gives: rows with the lines they end on, a blank line as a row without cells.
Uses:  errors, text.files.
Never: decides what a column means.

    .tsv     cells divided by tabs; a quote is a letter like any other
    .csv     the csv module's rules, strictly; divided by semicolons where the first line has those and no comma
    .jsonl   the keys of the first objects are the first row; an object under the key "translation" is opened
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NoReturn, cast

from clearhead.errors import TextError
from clearhead.text.files import read_lines

__all__ = ["SAMPLE_ROWS", "FileKind", "Row", "kind_of", "read_table"]

SAMPLE_ROWS = 50
"""So many rows are looked at to find out which columns there are."""

MAX_ROW_CHARACTERS = 2**20
MAX_COLUMNS = 1000


class FileKind(StrEnum):
    """How a file holds its examples."""

    TEXT = "txt"
    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The cells of one row; None where a JSON object has no text for a key."""

    line: int
    cells: list[str | None]


def kind_of(path: Path) -> FileKind | None:
    """What a file is by its name, or None."""
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    suffix = bare.suffix.lower().removeprefix(".")
    return FileKind(suffix) if suffix in set(FileKind) else None


def read_table(path: Path) -> Iterator[Row]:
    """The rows of a table, one at a time."""
    kind = kind_of(path)
    assert kind is not None and kind is not FileKind.TEXT
    rows = {FileKind.TSV: _tab_separated, FileKind.CSV: _comma_separated, FileKind.JSONL: _objects}[kind](path)
    for row in rows:
        if len(row.cells) > MAX_COLUMNS:
            raise TextError(
                "a row with too many columns",
                got=f"{path}, line {row.line}: {len(row.cells)}",
                expected=f"at most {MAX_COLUMNS}",
            )
        yield row


def _lines(path: Path, *, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_lines(path, keep_ends=keep_ends), start=1):
        if len(line) > MAX_ROW_CHARACTERS:
            raise TextError(
                "a row that is too long",
                got=f"{path}, line {number}: {len(line)} characters",
                expected=f"at most {MAX_ROW_CHARACTERS}",
                advice="a .txt file, where texts may be of any length",
            )
        yield number, line


def _tab_separated(path: Path) -> Iterator[Row]:
    for number, line in _lines(path):
        yield Row(line=number, cells=list(line.split("\t")) if line.strip() else [])


def _comma_separated(path: Path) -> Iterator[Row]:
    lines = (line for _, line in _lines(path, keep_ends=True))
    n_blank, first = 0, next(lines, None)
    while first is not None and not first.strip():
        n_blank, first = n_blank + 1, next(lines, None)
    if first is None:
        return
    divider = ";" if ";" in first and "," not in first else ","
    csv.field_size_limit(MAX_ROW_CHARACTERS)  # the module's own is smaller; it holds for the whole process
    reader = csv.reader(chain(repeat("\n", n_blank), [first], lines), delimiter=divider, strict=True)
    begun = 1
    try:
        for cells in reader:
            yield Row(line=reader.line_num, cells=list(cells) if any(cell.strip() for cell in cells) else [])
            begun = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error):
            raise TextError(
                "a cell that is too long",
                got=f"{path}: one that begins in line {begun} has not ended in line {reader.line_num}",
                expected=f"at most {MAX_ROW_CHARACTERS} characters",
                advice="close the quotes that it begins with, or save it as .tsv, where quotes mean nothing",
            ) from None
        raise TextError(
            "a row that is not CSV",
            got=f"{path}, line {reader.line_num}: {error}",
            expected="cells that hold quotes or commas in double quotes, and those quotes closed",
            advice="save it as .tsv, where quotes mean nothing",
        ) from None


def _objects(path: Path) -> Iterator[Row]:
    """The keys that the first objects have, and then the values of every object."""
    lines = ((number, _object(line, where=f"{path}, line {number}")) for number, line in _lines(path))
    sample: list[tuple[int, dict[str, object] | None]] = []
    for number, found in lines:
        if found is not None:
            sample = [(number, found), *islice(lines, SAMPLE_ROWS - 1)]
            break
        yield Row(line=number, cells=[])
    keys = list(dict.fromkeys(key for _, found in sample for key in found or ()))
    yield from (Row(line=number, cells=list(keys)) for number, _ in sample[:1])
    for number, found in chain(sample, lines):
        yield Row(line=number, cells=[] if found is None else [_cell(found.get(key)) for key in keys])


def _object(line: str, *, where: str) -> dict[str, object] | None:
    if not line.strip():
        return None
    try:
        found: Any = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise TextError("a line that is not JSON", got=f"{where}: {error}", expected="one JSON object a line") from None
    if not isinstance(found, dict):
        raise TextError("a line that is not a JSON object", got=f"{where}: {line[:60]}", expected="{...} on every line")
    whole = cast(dict[str, object], found)
    inner = whole.get("translation")
    if isinstance(inner, dict):
        whole = {**whole, **cast(dict[str, object], inner)}
        del whole["translation"]
    return whole


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _cell(value: object) -> str | None:
    """A value as text; None where it is none, or holds others."""
    if value is None or isinstance(value, str):
        return value
    return None if isinstance(value, dict | list) else json.dumps(value)
