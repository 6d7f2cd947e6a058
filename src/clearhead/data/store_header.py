"""What a token store's folder holds, written down in its header.json.

Takes: a folder.
Gives: its header, checked against the files that are really there.
Uses:  config.record, errors, text.files.
Never: trusts a file whose size or checksum is another than the header says.
"""

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearhead.config.checks import require_size
from clearhead.config.record import RECORD, from_dict
from clearhead.errors import ConfigError, TextError
from clearhead.text.files import read_bounded

__all__ = ["HEADER_NAME", "VALUE_TYPES", "Header", "StoredFile", "damaged", "id_type", "read_header"]

HEADER_NAME = "header.json"
FORMAT = "clearhead-tokens"
VERSION = 1

VALUE_TYPES = {"origin": "<i4", "label": "<i4", "score": "<f4", "teacher": "<f4"}
"""What a record may have beside its ids: the source it came from, its class, its score, a teacher's vector."""

_MAX_HEADER_BYTES = 2**20
_CHUNK_BYTES = 2**20
_MOST_RECORDS = 2**48


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file as it was written."""

    __pydantic_config__ = RECORD

    n_bytes: int
    crc32: int


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a store holds.

    Attributes:
        n_records: How many records.
        fields: The vocabulary size of each field of ids.
        values: The width of each column of numbers.
        files: Every file beside the header.
        format: Says that this is a token store.
        version: Of the layout.
    """

    __pydantic_config__ = RECORD

    n_records: int
    fields: dict[str, int]
    values: dict[str, int]
    files: dict[str, StoredFile]
    format: str = FORMAT
    version: int = VERSION

    def __post_init__(self) -> None:
        require_size("n_records", self.n_records, least=0, most=_MOST_RECORDS)
        for size in (*self.fields.values(), *self.values.values()):
            require_size("a size", size)
        expected = {f"{name}.{end}" for name in self.fields for end in ("ids", "offsets")}
        expected |= {f"{name}.values" for name in self.values}
        strange = {*self.files} ^ expected or {*self.values} - {*VALUE_TYPES}
        strange |= {name for name in self.fields if not name.isidentifier()}
        if strange or not self.fields or (self.format, self.version) != (FORMAT, VERSION):
            raise ConfigError("a header that does not fit together", got=", ".join(sorted(strange)) or self.format)


def id_type(vocab_size: int) -> str:
    """The smallest type that holds every id of a vocabulary."""
    return "<u2" if vocab_size <= 2**16 else "<u4"


def read_header(folder: Path) -> Header:
    """A store's header, once every file has been found to be what it says."""
    path = folder / HEADER_NAME
    if not path.is_file():
        raise TextError("a folder without a token store", got=folder, expected=f"a {HEADER_NAME} in it")
    try:
        content: Any = json.loads(read_bounded(path, limit=_MAX_HEADER_BYTES))
        header = from_dict(Header, content)
    except (ValueError, RecursionError, ConfigError) as error:
        raise damaged(path, str(error).splitlines()[0]) from None
    for name, file in header.files.items():
        _check(folder / name, file)
    return header


def damaged(path: Path, why: str) -> TextError:
    """The error for a store that is not as it was written."""
    return TextError(
        "a token store that is damaged", got=f"{path}: {why}", advice="delete its folder and prepare the data again"
    )


def _check(path: Path, file: StoredFile) -> None:
    try:
        size = path.stat().st_size
        if size != file.n_bytes:
            raise damaged(path, f"{size} bytes, {file.n_bytes} were written")
        checksum = 0
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                checksum = zlib.crc32(chunk, checksum)
    except OSError as error:
        raise damaged(path, error.strerror or str(error)) from None
    if checksum != file.crc32:
        raise damaged(path, "its content has changed")
