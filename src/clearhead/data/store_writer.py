"""Writing a token store, record by record.

Takes: ids and numbers, a record at a time.
Gives: the folder that TokenStore reads.
Uses:  config.record, errors, data.store_header; numpy.
Never: more than a small buffer in memory; a folder that is half written.
"""

import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearhead.config.record import to_dict
from clearhead.data.store_header import HEADER_NAME, VALUE_TYPES, Header, StoredFile, id_type
from clearhead.errors import TextError

__all__ = ["StoreWriter", "writing"]

_BUFFERED = 2**16
"""How many numbers wait before they are written."""


class StoreWriter:
    """An open store; `writing` makes one.

    Args:
        folder: An empty folder.
        fields: The vocabulary size of each field of ids.
        values: The width of each column of numbers beside them.
    """

    def __init__(self, *, folder: Path, fields: Mapping[str, int], values: Mapping[str, int]) -> None:
        assert fields and set(values) <= set(VALUE_TYPES), "a store has fields, and values that have a type"
        self._folder = folder
        self._fields = dict(fields)
        self._widths = dict(values)
        self._ids = {
            name: _Column(path=folder / f"{name}.ids", kind=id_type(size), below=size) for name, size in fields.items()
        }
        self._offsets = {name: _Column(path=folder / f"{name}.offsets", kind="<i8") for name in fields}
        self._values = {name: _Column(path=folder / f"{name}.values", kind=VALUE_TYPES[name]) for name in values}
        self._ends = dict.fromkeys(fields, 0)
        self.n_records = 0
        for offsets in self._offsets.values():
            offsets.extend((0,))

    def append(
        self,
        ids: Mapping[str, Sequence[int] | NDArray[Any]],
        **values: int | float | Sequence[int | float] | NDArray[Any],
    ) -> None:
        """Add a record: ids for every field, and a number, or a vector, for every column."""
        assert ids.keys() == self._fields.keys() and values.keys() == self._widths.keys(), "every field, no other"
        for name, row in ids.items():
            self._ids[name].extend(row)
            self._ends[name] += len(row)
            self._offsets[name].extend((self._ends[name],))
        for name, value in values.items():
            numbers = (value,) if isinstance(value, int | float) else value
            assert len(numbers) == self._widths[name], "a value of its column's width"
            self._values[name].extend(numbers)
        self.n_records += 1

    def finish(self) -> None:
        """Write what waits, then the header; everything is on the disk afterwards."""
        columns = (*self._ids.values(), *self._offsets.values(), *self._values.values())
        files = {column.path.name: column.finish() for column in columns}
        header = Header(n_records=self.n_records, fields=self._fields, values=self._widths, files=files)
        with (self._folder / HEADER_NAME).open("xb") as stream:
            plain = to_dict(header) | {"files": {name: to_dict(file) for name, file in files.items()}}
            stream.write(json.dumps(plain, indent=2).encode())
            stream.flush()
            os.fsync(stream.fileno())
        _sync(self._folder)

    def close(self) -> None:
        """Let go of the files, whatever state they are in."""
        for column in (*self._ids.values(), *self._offsets.values(), *self._values.values()):
            column.stream.close()


class _Column:
    """A file of numbers that grows."""

    def __init__(self, *, path: Path, kind: str, below: int | None = None) -> None:
        self.path = path
        self.stream = path.open("xb")
        self._dtype = np.dtype(kind)
        self._below = below
        self._waiting: list[int | float] = []
        self._n_bytes = 0
        self._checksum = 0

    def extend(self, numbers: Sequence[int | float] | NDArray[Any]) -> None:
        self._waiting.extend(numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)
        if len(self._waiting) >= _BUFFERED:
            self._flush()

    def finish(self) -> StoredFile:
        self._flush()
        self.stream.flush()
        os.fsync(self.stream.fileno())
        return StoredFile(n_bytes=self._n_bytes, crc32=self._checksum)

    def _flush(self) -> None:
        numbers = np.array(self._waiting)
        assert self._below is None or np.all((numbers >= 0) & (numbers < self._below)), "an id beyond the vocabulary"
        content = numbers.astype(self._dtype).tobytes()
        self.stream.write(content)
        self._n_bytes += len(content)
        self._checksum = zlib.crc32(content, self._checksum)
        self._waiting = []


@contextmanager
def writing(
    folder: Path, *, fields: Mapping[str, int], values: Mapping[str, int] | None = None
) -> Generator[StoreWriter, None, None]:
    """A store that takes the place of `folder` when the block ends well, and vanishes when it does not.

    Args:
        folder: Where the store shall be. A store that is there is replaced, anything else refused.
        fields: The vocabulary size of each field of ids.
        values: The width of each column of numbers beside them: label, score, origin, teacher.
    """
    if folder.exists() and not (folder / HEADER_NAME).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise TextError("a folder that is no token store", got=folder, expected="a new or empty folder")
    fresh, stale = (folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.{end}") for end in ("tmp", "old"))
    try:
        fresh.mkdir(parents=True)
        _tidy(folder, besides=fresh)
        writer = StoreWriter(folder=fresh, fields=fields, values=values or {})
        try:
            yield writer
            writer.finish()
        finally:
            writer.close()
        if folder.exists():
            folder.rename(stale)
        fresh.rename(folder)
        _sync(folder.parent)
    except OSError as error:
        raise TextError("a token store that cannot be written", got=f"{folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(stale, ignore_errors=True)


def _tidy(folder: Path, *, besides: Path) -> None:
    """Remove what writers that were killed left beside a folder; an older store only where there is a newer one."""
    ends = "tmp|old" if folder.exists() else "tmp"
    ours = re.compile(rf"\.{re.escape(folder.name)}\.[0-9a-f]{{8}}\.({ends})")
    for path in folder.parent.iterdir():
        if ours.fullmatch(path.name) and path != besides:
            shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system lets a folder be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
