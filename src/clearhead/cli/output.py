"""Where results go: standard output, or a file that has its name only when it is whole.

Takes: outcomes, one for each text.
Gives: lines, JSON or rows of an array; how many are written.
Uses:  cli.harmless, errors; numpy, for arrays.
Never: a finished result that gets lost, or a former file lost for nothing.
"""

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedIOBase, StringIO, TextIOBase
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from clearhead.cli.harmless import harmless
from clearhead.errors import TextError

__all__ = ["Outcome", "Output", "check_place", "kept", "lines_of", "lines_out", "rows_of", "rows_out"]

_BREAKS = re.compile(r"\s*[\r\n]+\s*")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one text: lines for people, fields for programs."""

    lines: Sequence[str]
    fields: dict[str, Any] = field(default_factory=dict[str, Any])


@runtime_checkable
class Output(Protocol):
    """What outcomes are written to."""

    n_written: int

    def write(self, text: str, outcome: Outcome) -> None:
        """Adds what came of a text."""
        ...

    def flush(self) -> None:
        """Hands everything to the system."""
        ...


class _Lines:
    """One result a line; several where several were asked for."""

    def __init__(self, *, stream: TextIOBase, as_json: bool) -> None:
        self.n_written = 0
        self._stream = stream
        self._as_json = as_json
        self._seen = stream.isatty()

    def write(self, text: str, outcome: Outcome) -> None:
        if self._as_json:
            lines = [json.dumps(_finite(outcome.fields), ensure_ascii=False, allow_nan=False)]
        elif "\n" in text or "\r" in text:
            lines = outcome.lines
        else:
            # A model may write a line break where none was; then line numbers would no longer match.
            lines = [_BREAKS.sub(" ", line) for line in outcome.lines]
        joined = "\n".join(lines) + "\n"
        self._stream.write(harmless(joined) if self._seen else joined)
        self.n_written += 1

    def flush(self) -> None:
        self._stream.flush()


class _Rows:
    """The vectors of all texts as one array in NumPy's own format, which grows as they come."""

    def __init__(self, *, stream: BufferedIOBase, width: int) -> None:
        self.n_written = 0
        self._stream = stream
        self._width = width

    def write(self, text: str, outcome: Outcome) -> None:
        del text
        if self.n_written == 0:
            self._head()
        self._stream.write(rows_of([outcome]))
        self.n_written += 1

    def flush(self) -> None:
        self._stream.flush()

    def finish(self) -> None:
        """Says in the head how many rows there are; numpy leaves room for that."""
        self._stream.seek(0)
        self._head()
        self._stream.seek(0, os.SEEK_END)

    def _head(self) -> None:
        from numpy.lib import format as npy

        npy.write_array_header_1_0(
            self._stream, {"descr": "<f4", "fortran_order": False, "shape": (self.n_written, self._width)}
        )


@contextmanager
def lines_out(path: Path | None, *, as_json: bool) -> Generator[Output]:
    """Lines of standard output, or of a file."""
    if path is None:
        yield _Lines(stream=cast(TextIOBase, sys.stdout), as_json=as_json)
        return
    with kept(path) as stream:
        # A name that is not UTF-8 in a result must not cost the rest.
        text = open(stream.fileno(), "w", encoding="utf-8", errors="backslashreplace", newline="\n", closefd=False)  # noqa: SIM115
        try:
            yield _Lines(stream=text, as_json=as_json)
        finally:
            text.close()


@contextmanager
def rows_out(path: Path, *, width: int) -> Generator[Output]:
    """Rows of an array in a file whose name ends in .npy."""
    with kept(path) as stream:
        rows = _Rows(stream=stream, width=width)
        try:
            yield rows
        except BaseException:
            if rows.n_written:
                rows.finish()
            raise
        rows.finish()


def lines_of(results: Iterable[tuple[str, Outcome]], *, as_json: bool) -> bytes:
    """The bytes that `lines_out` would write for texts and what came of them."""
    stream = StringIO()
    lines = _Lines(stream=stream, as_json=as_json)
    for text, outcome in results:
        lines.write(text, outcome)
    return stream.getvalue().encode("utf-8", errors="backslashreplace")


def rows_of(outcomes: Iterable[Outcome]) -> bytes:
    """The rows that `rows_out` would write."""
    return b"".join(outcome.fields["vector"].astype("<f4").tobytes() for outcome in outcomes)


@contextmanager
def kept(path: Path) -> Generator[BufferedIOBase]:
    """A file that takes its name when the block ends, well or not; where nothing was written, only when it ends well.

    Until then it is called `.partial`, and stays so where the system refuses to go on. What is no file, a pipe or a
    device, is written to as it is.
    """
    check_place(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        path = Path(os.path.realpath(path))  # a link stays a link
        partial = path.with_name(path.name + ".partial")
        with partial.open("wb") as stream:
            try:
                yield stream
            except OSError:
                raise
            except BaseException:
                stream.flush()
                if partial.stat().st_size == 0:
                    partial.unlink()
                    raise
                _place(stream, partial, path)
                raise
            _place(stream, partial, path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from None


def check_place(path: Path) -> None:
    """Refuses a file that cannot be made, before any work is done for it.

    Raises:
        TextError: A folder, or a file in a folder that does not exist.
    """
    if path.is_dir():
        raise TextError("a folder where a file is needed", got=path, advice=f"--out {path / 'results.txt'}")
    if not path.parent.is_dir():
        raise TextError("a file in a folder that does not exist", got=path, advice=f"make {path.parent} first")


def _place(stream: BufferedIOBase, partial: Path, path: Path) -> None:
    stream.flush()
    os.fsync(stream.fileno())
    with suppress(OSError):
        shutil.copymode(path, partial)
    partial.replace(path)


def _cannot_write(path: Path, error: OSError) -> TextError:
    partial = path.with_name(path.name + ".partial")
    saved = f"{partial} holds what was written; " if partial.is_file() and partial.stat().st_size else ""
    return TextError(
        "a file that cannot be written", got=f"{path}: {error.strerror or error}", advice=f"{saved}another --out"
    )


def _finite(value: Any) -> Any:
    """The same value with null where JSON has no number for it."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(one) for name, one in cast(dict[str, Any], value).items()}
        case list() | tuple():
            return [_finite(one) for one in cast(list[Any], value)]
        case _:
            return value
