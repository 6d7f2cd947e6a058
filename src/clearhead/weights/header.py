"""The header of a .safetensors file, checked before anything that it claims is believed.

Takes: a path.
Gives: every tensor's name, element type, shape and place in the file, without reading any tensor.
Uses:  errors; strict_json; text, to open files.
Never: allocates what a header asks for, or leaves a check to somebody else.

    8 bytes          how long the header is, little-endian
    header           JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …,
                            "__metadata__": {"format": "pt"}}
    the rest         the tensors, one after another; offsets count from here
"""

import math
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from clearhead.errors import WeightsError, nearest
from clearhead.text.files import reading
from clearhead.weights.strict_json import as_weights_error, parse_object

__all__ = ["METADATA", "WIDTHS", "Header", "StoredTensor", "opened", "read_header"]

MAX_HEADER_BYTES = 100_000_000
MAX_RANK = 16
METADATA = "__metadata__"
LENGTH_BYTES = 8
_LARGEST = 2**63 - 1
_MOST_SHOWN = 120
_LFS_POINTER = b"version https://git-lfs"

WIDTHS: Mapping[str, int] = MappingProxyType(
    {"BOOL": 1, "U8": 1, "I8": 1}
    | {"U16": 2, "I16": 2, "F16": 2, "BF16": 2}
    | {"U32": 4, "I32": 4, "F32": 4}
    | {"U64": 8, "I64": 8, "F64": 8}
)
"""Bytes of one value, by the name that a header gives its type."""


class StoredTensor(NamedTuple):
    """Where a tensor lies in its file, and what it is."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def n_values(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def is_floating(self) -> bool:
        """Whether its numbers are real numbers, as parameters are."""
        return self.dtype.startswith(("F", "BF"))


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a file says of itself, all of it checked: the tensors fill the file without gap or overlap.

    Attributes:
        path: The file.
        tensors: In the order in which they lie in the file.
        metadata: What its writer added.
    """

    path: Path
    tensors: tuple[StoredTensor, ...]
    metadata: Mapping[str, str]

    @property
    def n_bytes(self) -> int:
        """How many bytes the tensors take in the file."""
        return sum(tensor.end - tensor.start for tensor in self.tensors)

    @property
    def n_parameters(self) -> int:
        """How many real numbers the tensors hold."""
        return sum(tensor.n_values for tensor in self.tensors if tensor.is_floating)


@contextmanager
def opened(path: Path) -> Generator[BufferedIOBase, None, None]:
    """A weight file open for reading; whatever the operating system says becomes a WeightsError."""
    with as_weights_error():
        # A pipe would block for ever, and a device would never end.
        if path.exists() and not path.is_file():
            got = f"{path} is a folder" if path.is_dir() else f"{path} is neither"
            raise WeightsError("something that is not a file where weights should be", got=got, expected="a file")
        with reading(path) as stream:
            yield stream


def read_header(path: Path) -> Header:
    """The checked header of a .safetensors file.

    Raises:
        WeightsError: Any claim of the header is impossible for a file of this size.
    """
    with opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        content = _read_content(stream, path, size)
    fields = parse_object(content, path=path)
    metadata = _read_metadata(fields.pop(METADATA, {}), path)
    origin = LENGTH_BYTES + len(content)
    tensors = sorted(
        (_read_entry(name, value, path, origin=origin, size=size) for name, value in fields.items()),
        key=lambda tensor: (tensor.start, tensor.end),
    )
    _check_layout(tensors, path, origin=origin, size=size)
    return Header(path=path, tensors=tuple(tensors), metadata=metadata)


def _read_content(stream: BufferedIOBase, path: Path, size: int) -> bytes:
    """The header's text, which must fit into the file."""
    prefix = stream.read(LENGTH_BYTES)
    if len(prefix) < LENGTH_BYTES:
        got = f"{path} is empty" if not prefix else f"{path} is {len(prefix)} bytes long"
        raise WeightsError("a weight file that is cut off", got=got, expected="a header and tensors", advice=_AGAIN)
    length = int.from_bytes(prefix, "little")
    most = min(MAX_HEADER_BYTES, size - LENGTH_BYTES)
    if length > most:
        if (prefix + stream.read(len(_LFS_POINTER))).startswith(_LFS_POINTER):
            advice = "git lfs pull in its folder; this is a pointer that stands for the weights"
        else:
            advice = _AGAIN
        got = f"{path} claims a header of {length} bytes, and is {size} bytes long"
        raise WeightsError(
            "a weight file with an impossible header", got=got, expected=f"at most {most}", advice=advice
        )
    content = stream.read(length)
    if len(content) < length:
        raise WeightsError("a weight file that is cut off", got=f"{path} ends in its header", advice=_AGAIN)
    return content


def _read_metadata(value: object, path: Path) -> Mapping[str, str]:
    pairs = cast(dict[str, object], value) if isinstance(value, dict) else {METADATA: value}
    if not all(isinstance(text, str) for text in pairs.values()):
        raise _bad(path, METADATA, got="values that are not text", expected="an object of texts")
    return MappingProxyType(cast(dict[str, str], pairs))


def _read_entry(name: str, value: object, path: Path, *, origin: int, size: int) -> StoredTensor:
    """One tensor of a header; its size must follow from its shape, and it must lie in the file."""
    fields = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    missing = {"dtype", "shape", "data_offsets"} - fields.keys()
    if missing:
        raise _bad(path, name, got=f"no {' and no '.join(sorted(missing))}", expected="dtype, shape and data_offsets")
    dtype = fields["dtype"]
    if not isinstance(dtype, str) or dtype not in WIDTHS:
        raise WeightsError(
            f"{name[:_MOST_SHOWN]!r} has an element type that cannot be read",
            got=f"{path}: {str(dtype)[:40]!r}",
            expected=", ".join(WIDTHS),
            advice=nearest(str(dtype)[:40], WIDTHS) or "a revision of the model that is not quantised",
        )
    shape = _whole_numbers(fields["shape"])
    # Also with its zeros left out, since strides are computed without them.
    if shape is None or len(shape) > MAX_RANK or math.prod(max(1, n) for n in shape) > _LARGEST:
        got = str(cast(object, fields["shape"]))[:80]
        raise _bad(path, name, got=f"the shape {got}", expected=f"at most {MAX_RANK} whole numbers, none negative")
    offsets = _whole_numbers(fields["data_offsets"])
    if offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        got = str(cast(object, fields["data_offsets"]))[:80]
        raise _bad(path, name, got=f"the offsets {got}", expected="where it begins and where it ends")
    start, end = (origin + offset for offset in offsets)
    if end > size:
        got = f"an end at byte {end} of a file of {size} bytes"
        raise _bad(path, name, got=got, expected="an end inside the file", advice=_AGAIN)
    n_bytes = math.prod(shape) * WIDTHS[dtype]
    if end - start != n_bytes:
        expected = f"{n_bytes} bytes for {dtype} of shape {list(shape)}"
        raise _bad(path, name, got=f"{end - start} bytes", expected=expected)
    return StoredTensor(name, dtype, shape, start, end)


def _whole_numbers(value: object) -> tuple[int, ...] | None:
    """A JSON list of numbers from zero up, or None where it is anything else."""
    if not isinstance(value, list):
        return None
    numbers = cast(list[object], value)
    if not all(type(number) is int and 0 <= number <= _LARGEST for number in numbers):
        return None
    return tuple(cast(list[int], numbers))


def _check_layout(tensors: list[StoredTensor], path: Path, *, origin: int, size: int) -> None:
    """Every byte after the header belongs to one tensor."""
    place = origin
    for tensor in tensors:
        if tensor.start < place:
            raise _bad(path, tensor.name, got="bytes that belong to another tensor too", expected="bytes of its own")
        if tensor.start > place:
            got = f"{tensor.start - place} bytes before it that belong to no tensor"
            raise _bad(path, tensor.name, got=got, expected="tensors one after another")
        place = tensor.end
    if place < size:
        got = f"{path} has {size - place} bytes after its last tensor"
        raise WeightsError("a weight file that is too long", got=got, expected=f"{place} bytes", advice=_AGAIN)


_AGAIN = "download or copy the file again; it was cut off or changed on the way"


def _bad(path: Path, name: str, *, got: str, expected: str, advice: str | None = None) -> WeightsError:
    return WeightsError(
        f"the header of a weight file is wrong about {name[:_MOST_SHOWN]!r}",
        got=f"{path}: {got}",
        expected=expected,
        advice=advice or "another copy of the file; this one is damaged, or was made to break its reader",
    )
