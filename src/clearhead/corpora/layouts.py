"""What an output begins with while it grows, and what makes it whole: lines, an array, a table."""

import io
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from clearhead.corpora.tables import Columns, schema_bytes, write_parquet

_HEAD_BYTES = 128


@runtime_checkable
class Layout(Protocol):
    """How a file is laid out."""

    def head(self) -> bytes:
        """What comes before the first chunk."""
        ...

    def seal(self, grown: Path, *, n_texts: int) -> Path:
        """Makes what has grown a whole file; gives where it is now, which is beside where it was."""
        ...


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of text: nothing before, nothing after."""

    def head(self) -> bytes:
        """Nothing."""
        return b""

    def seal(self, grown: Path, *, n_texts: int) -> Path:
        """The file as it is."""
        del n_texts
        return grown


@dataclass(frozen=True, kw_only=True)
class Array:
    """Vectors as one array in NumPy's format, whose head says how many there are."""

    def head(self) -> bytes:
        """Room for the head."""
        return bytes(_HEAD_BYTES)

    def seal(self, grown: Path, *, n_texts: int) -> Path:
        """The same file with its head."""
        npy: Any = import_module("numpy.lib.format")
        n_numbers = (grown.stat().st_size - _HEAD_BYTES) // 4
        width = n_numbers // n_texts if n_texts else 0
        head = io.BytesIO()
        npy.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (n_texts, width)})
        assert head.tell() == _HEAD_BYTES, "numpy leaves the first axis room to grow"
        with grown.open("r+b") as stream:
            stream.write(head.getvalue())
        return grown


@dataclass(frozen=True, kw_only=True)
class Table:
    """A Parquet file; until it is whole, a stream of Arrow record batches."""

    columns: Columns = field(default_factory=dict[str, str])

    def head(self) -> bytes:
        """The schema."""
        return schema_bytes(self.columns)

    def seal(self, grown: Path, *, n_texts: int) -> Path:
        """A Parquet file beside the stream."""
        del n_texts
        sealed = grown.with_name(grown.name + ".parquet")
        write_parquet(grown, sealed)
        return sealed
