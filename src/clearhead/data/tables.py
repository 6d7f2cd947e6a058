"""Tables as rows of cells: tab-separated, comma-separated, or one JSON object a line.

Takes: a path, gzipped where its name ends in .gz.
Gives: rows with the lines they end on, a blank line as a row without cells.
Uses:  errors, text.files.
Never: decides what a column means.

    .tsv     cells divided by tabs; a quote is a letter like any other
    .csv     the csv module's rules, strictly; divided by semicolons where the first line has those and no comma
    .jsonl   the keys of the first object are the first row; an object under the key "translation" is opened
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, cast

from clearhead.errors import TextError
from clearhead.text.files import read_lines

__all__ = ["FileKind", "Row", "kind_of", "read_table"]

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
    first = next(lines, None)
    if first is None:
        return
    divider = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(chain([first], lines), delimiter=divider, strict=True)
    try:
        for cells in reader:
            yield Row(line=reader.line_num, cells=list(cells) if any(cell.strip() for cell in cells) else [])
    except csv.Error as error:
        raise TextError(
            "a row that is not CSV",
            got=f"{path}, line {reader.line_num}: {error}",
            expected="cells that hold quotes or commas in double quotes, and those quotes closed",
            advice="save it as .tsv, where quotes mean nothing",
        ) from None


def _objects(path: Path) -> Iterator[Row]:
    keys: list[str] | None = None
    for number, line in _lines(path):
        if not line.strip():
            yield Row(line=number, cells=[])
            continue
        found = _object(line, where=f"{path}, line {number}")
        if keys is None:
            keys = list(found)
            yield Row(line=number, cells=list(keys))
        yield Row(line=number, cells=[_cell(found.get(key)) for key in keys])


def _object(line: str, *, where: str) -> dict[str, object]:
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
