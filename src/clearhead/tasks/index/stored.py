"""Reading an index: its vectors block by block through a memory map, its passages one by one.

Takes: an index's folder and manifest.
Gives: blocks of rows, passages by row.
Uses:  errors, manifest, passage.
Never: a map of more than a block, so that the memory in use stays small however large the index is.
"""

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from clearhead.errors import WeightsError
from clearhead.tasks.index.manifest import OFFSETS, PASSAGES, VECTORS, Manifest
from clearhead.tasks.index.passage import MAX_RECORD_BYTES, Passage, unpack_passage
from clearhead.weights.strict_json import as_weights_error

__all__ = ["check_offsets", "read_blocks", "read_passages_at"]

_BLOCK_BYTES = 64 * 2**20
_OFFSETS_AT_ONCE = 2**17


def read_blocks(folder: Path, manifest: Manifest) -> Iterator[tuple[int, Float32[np.ndarray, "K D"]]]:
    """All rows in order, in blocks, each with the number of its first; a block lives until the next is asked for."""
    n_rows = max(1, _BLOCK_BYTES // (4 * manifest.width))
    with as_weights_error(), (folder / VECTORS).open("rb") as stream:
        for first in range(0, manifest.count, n_rows):
            shape = (min(n_rows, manifest.count - first), manifest.width)
            place = 4 * first * manifest.width
            start = place - place % mmap.ALLOCATIONGRANULARITY
            n_bytes = place - start + 4 * shape[0] * shape[1]
            key_KD = np.frombuffer(_mapped(stream.fileno(), n_bytes, start), "<f4", offset=place - start)
            yield first, key_KD.reshape(shape)
            del key_KD


def _mapped(handle: int, n_bytes: int, start: int) -> mmap.mmap:
    try:
        return mmap.mmap(handle, n_bytes, access=mmap.ACCESS_READ, offset=start)
    except ValueError:
        raise WeightsError("an index that shrank while it was read", got=f"no {n_bytes} bytes at {start}") from None


def check_offsets(folder: Path, manifest: Manifest) -> None:
    """Refuse ends of passages that do not grow, or do not end where the manifest says."""
    path = folder / OFFSETS
    former = 0
    with as_weights_error(), path.open("rb") as stream:
        for first in range(0, manifest.count, _OFFSETS_AT_ONCE):
            n_ends = min(_OFFSETS_AT_ONCE, manifest.count - first)
            ends = np.frombuffer(_exactly(stream.read(8 * n_ends), 8 * n_ends, path), "<i8")
            if ends[0] <= former or (ends[1:] <= ends[:-1]).any():
                raise WeightsError("offsets in an index that run backwards", got=path, advice="build the index again")
            former = int(ends[-1])
    if former != manifest.passage_bytes:
        raise WeightsError(
            "offsets in an index that do not end where they should",
            got=f"{path}: {former}",
            expected=manifest.passage_bytes,
            advice="build the index again",
        )


def read_passages_at(folder: Path, manifest: Manifest, rows: Sequence[int]) -> list[Passage]:
    """The passages of some rows, in the order asked for."""
    passages: list[Passage] = []
    path = folder / PASSAGES
    with as_weights_error(), path.open("rb") as lines, (folder / OFFSETS).open("rb") as offsets:
        for row in rows:
            assert 0 <= row < manifest.count
            n_ends = min(row, 1) + 1
            offsets.seek(8 * (row + 1 - n_ends))
            ends = np.frombuffer(_exactly(offsets.read(8 * n_ends), 8 * n_ends, folder / OFFSETS), "<i8")
            start, end = int(ends[0]) if row else 0, int(ends[-1])
            if not 0 <= start < end <= manifest.passage_bytes or end - start > MAX_RECORD_BYTES:
                raise WeightsError("a passage at an impossible place", got=f"{path}: bytes {start} to {end}")
            lines.seek(start)
            passages.append(unpack_passage(_exactly(lines.read(end - start), end - start, path), path=path))
    return passages


def _exactly(content: bytes, n_bytes: int, path: Path) -> bytes:
    if len(content) < n_bytes:
        raise WeightsError("an index that shrank while it was read", got=path)
    return content
