"""Adding to an index: what is new lies beyond what counts until the manifest says otherwise.

Takes: an index's folder, its manifest or none, chunks of passages and their vectors.
Gives: the manifest of what is now in the files, for the caller to write.
Uses:  errors, manifest, passage; weights, to say what a disk refuses.
Never: touches a byte that counts, so that a crash at any moment leaves the former index whole.
"""

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from clearhead.errors import WeightsError
from clearhead.tasks.index.manifest import FILES, MAX_COUNT, OFFSETS, PASSAGES, VECTORS, Manifest
from clearhead.tasks.index.passage import Passage, pack_passage
from clearhead.weights.strict_json import as_weights_error

__all__ = ["Appender", "appending", "locked"]


class Appender:
    """The open files of an index, and the manifest of what they hold.

    Args:
        handles: The file descriptors, by name, each at the end of what counts.
        manifest: What counts.
    """

    def __init__(self, *, handles: dict[str, int], manifest: Manifest) -> None:
        self._handles = handles
        self.manifest = manifest

    def write(self, passages: Sequence[Passage], vector_KD: Float32[np.ndarray, "K D"]) -> None:
        """Add a chunk: a passage for each row."""
        assert vector_KD.shape == (len(passages), self.manifest.width)
        records = [pack_passage(passage) for passage in passages]
        ends = self.manifest.passage_bytes + np.cumsum([len(record) for record in records], dtype="<i8")
        count = self.manifest.count + len(records)
        if count > MAX_COUNT:
            raise WeightsError("more passages than an index holds", got=count, expected=f"at most {MAX_COUNT}")
        with as_weights_error():
            _write(self._handles[VECTORS], np.ascontiguousarray(vector_KD, "<f4").tobytes())
            _write(self._handles[PASSAGES], b"".join(records))
            _write(self._handles[OFFSETS], ends.tobytes())
        self.manifest = replace(self.manifest, count=count, passage_bytes=int(ends[-1]))

    def sync(self) -> None:
        """Wait until the disk has it all."""
        with as_weights_error():
            for handle in self._handles.values():
                os.fsync(handle)


@contextmanager
def appending(folder: Path, manifest: Manifest) -> Generator[Appender, None, None]:
    """An appender behind what counts; whatever else stands there goes, now and again when the block fails."""
    with ExitStack() as stack:
        handles: dict[str, int] = {}
        for name in FILES:
            handles[name] = stack.enter_context(_opened(folder / name))
            _cut(handles[name], manifest.sizes[name])
        try:
            yield Appender(handles=handles, manifest=manifest)
        except BaseException:
            for name, handle in handles.items():
                _cut(handle, manifest.sizes[name])
            raise


@contextmanager
def locked(folder: Path) -> Generator[None, None, None]:
    """The right to write to an index, where the system can give it to one process at a time."""
    with _opened(folder / VECTORS) as handle:
        if sys.platform != "win32":
            import fcntl  # noqa: PLC0415  (there is none on Windows)

            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise WeightsError(
                    "an index that another process is adding to", got=folder, advice="wait until it has finished"
                ) from None
        yield


@contextmanager
def _opened(path: Path) -> Generator[int, None, None]:
    """A file open for reading and writing, made where there is none; never the target of a link."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with as_weights_error():
        handle = os.open(path, flags, 0o644)
    try:
        yield handle
    finally:
        os.close(handle)


def _cut(handle: int, n_bytes: int) -> None:
    with as_weights_error():
        os.ftruncate(handle, n_bytes)
        os.lseek(handle, n_bytes, os.SEEK_SET)


def _write(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]
