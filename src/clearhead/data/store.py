"""A corpus as ids on disk, looked at without being loaded.

Takes: a folder that a StoreWriter wrote.
Gives: the ids and numbers of any record, as views into mapped files.
Uses:  data.store_header; numpy.
Never: the corpus in memory; a truncated or damaged file.

    header.json       what there is, with the size and checksum of every file
    source.ids        the ids of all records in one run, two bytes each, or four for a large vocabulary
    source.offsets    where each record begins in it, and where the last one ends
    score.values      a number for each record; label, origin and teacher likewise

All numbers are little-endian, without a header of their own.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearhead.data.store_header import VALUE_TYPES, Header, damaged, id_type, read_header

__all__ = ["TokenStore"]

_CHUNK_RECORDS = 2**20


class TokenStore:
    """Records of ids, read-only.

    Args:
        folder: What a StoreWriter wrote.
    """

    def __init__(self, *, folder: Path) -> None:
        self.folder = folder
        self._header: Header = read_header(folder)
        n_records = self._header.n_records
        self._ids: dict[str, NDArray[Any]] = {}
        self._offsets: dict[str, NDArray[np.int64]] = {}
        for name, vocab_size in self._header.fields.items():
            self._ids[name] = self._map(f"{name}.ids", id_type(vocab_size))
            self._offsets[name] = self._map(f"{name}.offsets", "<i8")
            self._check_offsets(name)
        self._values: dict[str, NDArray[Any]] = {}
        for name, width in self._header.values.items():
            flat = self._map(f"{name}.values", VALUE_TYPES[name])
            if len(flat) != n_records * width:
                raise damaged(folder / f"{name}.values", f"{len(flat)} numbers for {n_records} records")
            self._values[name] = flat.reshape(n_records, width) if name == "teacher" else flat

    def __len__(self) -> int:
        return self._header.n_records

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of ids."""
        return tuple(self._header.fields)

    @property
    def n_tokens(self) -> int:
        """How many ids there are in all fields."""
        return sum(len(ids) for ids in self._ids.values())

    def ids(self, field: str, row: int) -> NDArray[Any]:
        """The ids of one record, as a view."""
        start, end = self._offsets[field][row : row + 2]
        return self._ids[field][start:end]

    def stream(self, field: str) -> NDArray[Any]:
        """The ids of all records in one run, as a view."""
        return self._ids[field]

    def lengths(self, field: str) -> NDArray[np.int32]:
        """How many ids each record has."""
        found = np.empty(len(self), np.int32)
        offsets = self._offsets[field]
        for start in range(0, len(self), _CHUNK_RECORDS):
            part = offsets[start : start + _CHUNK_RECORDS + 1]
            found[start : start + len(part) - 1] = np.diff(part)
        return found

    def has(self, name: str) -> bool:
        """Whether records have a label, a score, an origin, or a teacher's vector."""
        return name in self._values

    def values(self, name: str) -> NDArray[Any]:
        """The labels, scores or origins of all records, or the vectors of their teacher, as a view."""
        return self._values[name]

    def _map(self, name: str, kind: str) -> NDArray[Any]:
        n_bytes = self._header.files[name].n_bytes
        dtype = np.dtype(kind)
        if n_bytes % dtype.itemsize:
            raise damaged(self.folder / name, f"{n_bytes} bytes are not whole numbers")
        if n_bytes == 0:  # an empty file cannot be mapped
            return np.empty(0, dtype)
        return np.memmap(self.folder / name, dtype, mode="r")

    def _check_offsets(self, name: str) -> None:
        path = self.folder / f"{name}.offsets"
        offsets, n_ids = self._offsets[name], len(self._ids[name])
        if len(offsets) != len(self) + 1 or offsets[0] != 0 or offsets[-1] != n_ids:
            raise damaged(path, f"{len(offsets)} offsets for {len(self)} records and {n_ids} ids")
        for start in range(0, len(self), _CHUNK_RECORDS):
            steps = np.diff(offsets[start : start + _CHUNK_RECORDS + 1])
            if steps.min() < 0 or steps.max() > np.iinfo(np.int32).max:
                raise damaged(path, "an offset that points back")
