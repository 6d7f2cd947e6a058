"""An output that grows chunk by chunk, and goes on where it was stopped.

    FILE.unfinished    what is finished of it, in order
    FILE.progress      how many chunks, texts and bytes of that are certain, and the terms it was made under

A run that was killed may have written more than it had noted; that much is cut off, and done again.
"""

import json
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from clearhead.corpora.layouts import Layout
from clearhead.errors import TextError
from clearhead.text.files import read_bounded, replacing

_SECONDS_BETWEEN_NOTES = 1.0
_MOST_NOTE_BYTES = 2**20


class Growing:
    """A file that takes its name when it is whole.

    Args:
        path: Its name.
        layout: How it is laid out.
        terms: What its content depends on; an unfinished one goes on only under the same terms.

    Raises:
        TextError: There is an unfinished one that was made under other terms, or the system refuses.
    """

    def __init__(self, *, path: Path, layout: Layout, terms: Mapping[str, Any]) -> None:
        self.path = Path(os.path.realpath(path))  # a link stays a link
        self.partial = self.path.with_name(self.path.name + ".unfinished")
        self._note = self.path.with_name(self.path.name + ".progress")
        self._layout = layout
        self._terms: dict[str, Any] = json.loads(json.dumps(terms))
        self._noted = time.monotonic()
        try:
            self._stream = self.partial.open("r+b" if self.partial.exists() else "x+b")
        except OSError as error:
            raise TextError("a file that cannot be written", got=f"{self.path}: {error.strerror or error}") from None
        try:
            self._begin()
        except BaseException:
            self._stream.close()
            raise

    def _begin(self) -> None:
        """Goes to where an earlier run came, or to the beginning."""
        _take_alone(self._stream, self.path)
        found = self._found()
        self.n_chunks, self.n_texts = (found["chunks"], found["texts"]) if found else (0, 0)
        self.n_texts_before = self.n_texts
        try:
            self._stream.truncate(found["bytes"] if found else 0)
            self._stream.seek(0, os.SEEK_END)
            if not found:
                self._stream.write(self._layout.head())
        except OSError as error:
            raise self._refused(error) from None

    def __enter__(self) -> "Growing":
        return self

    def __exit__(self, *_: object) -> None:
        """Notes what is finished; what is whole has its name already."""
        if self._stream.closed:
            return
        if self.n_chunks:
            self._take_note()
            self._stream.close()
        else:
            self._stream.close()
            self.partial.unlink(missing_ok=True)

    def append(self, payload: bytes, *, number: int, n_texts: int) -> None:
        """Adds the results of a chunk, which must be the next one."""
        assert number == self.n_chunks, f"chunk {number} where {self.n_chunks} is next"
        try:
            self._stream.write(payload)
            self.n_chunks, self.n_texts = self.n_chunks + 1, self.n_texts + n_texts
            if time.monotonic() - self._noted >= _SECONDS_BETWEEN_NOTES:
                self._take_note()
        except OSError as error:
            raise self._refused(error) from None

    def finish(self) -> None:
        """Gives the file its name."""
        try:
            self._take_note()
            sealed = self._layout.seal(self.partial, n_texts=self.n_texts)
            with sealed.open("rb") as stream:
                os.fsync(stream.fileno())
            with suppress(OSError):
                shutil.copymode(self.path, sealed)
            sealed.replace(self.path)
            self._note.unlink(missing_ok=True)
            self.partial.unlink(missing_ok=True)
            self._stream.close()
        except OSError as error:
            raise self._refused(error) from None

    def _found(self) -> dict[str, Any] | None:
        """What an earlier run noted, if it left anything to go on with."""
        if not (self._note.is_file() and self.partial.stat().st_size):
            return None
        try:
            note = json.loads(read_bounded(self._note, limit=_MOST_NOTE_BYTES))
            terms: dict[str, Any] = note["terms"]
            whole = {name: int(note[name]) for name in ("chunks", "texts", "bytes")}
        except (ValueError, KeyError, TypeError):
            raise TextError(
                "notes of an unfinished run that cannot be read", got=self._note, advice=self._anew
            ) from None
        other = sorted(name for name in {*terms, *self._terms} if terms.get(name) != self._terms.get(name))
        if other:
            raise TextError(
                "an unfinished run made with other options stands where this one would write",
                got=f"{self.partial}: {'; '.join(f'{name} was {terms.get(name)}' for name in other)}",
                expected="; ".join(f"{name} {self._terms.get(name)}" for name in other),
                advice=f"another --out; or {self._anew}",
            )
        return whole if whole["bytes"] <= self.partial.stat().st_size else None

    @property
    def _anew(self) -> str:
        return f"remove {self._note} to begin again"

    def _take_note(self) -> None:
        """Says how much is certain, once it is on the disk."""
        self._sync()
        certain = {"chunks": self.n_chunks, "texts": self.n_texts, "bytes": self._stream.tell(), "terms": self._terms}
        with replacing(self._note) as stream:
            stream.write(json.dumps(certain).encode())
        self._noted = time.monotonic()

    def _sync(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _refused(self, error: OSError) -> TextError:
        with suppress(OSError):
            self._stream.close()
        return TextError("a file that cannot be written", got=f"{self.path}: {error.strerror or error}")


def _take_alone(stream: BufferedIOBase, path: Path) -> None:
    """Refuses an output that another run is writing; where the system has no such locks, nobody is refused."""
    with suppress(ImportError):
        import fcntl  # noqa: PLC0415  (there is none on Windows)

        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TextError(
                "another run is writing that file", got=path, advice="another --out; or wait until that run has ended"
            ) from None
