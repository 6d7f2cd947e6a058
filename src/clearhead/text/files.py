"""Files of this room, in and out: bounded reads, UTF-8 lines, writes that happen wholly or not at all.

Takes: paths and byte streams, gzipped where the name ends in .gz.
Gives: bytes, lines, or a TextError that names the file and, where there is one, the line.
Uses:  errors.
Never: reads more than it was allowed to, or leaves half a file behind.
"""

import gzip
import os
import secrets
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path

from clearhead.errors import TextError

__all__ = ["decode_lines", "numbered_lines", "read_bounded", "read_lines", "reading", "replacing"]

MAX_LINE_BYTES = 64 * 2**20
_BOM = b"\xef\xbb\xbf"


@contextmanager
def reading(path: Path) -> Generator[BufferedIOBase, None, None]:
    """A file open for reading its bytes, unzipped on the way where its name ends in .gz.

    Whatever the operating system or the unzipper says while the file is open becomes a TextError.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise TextError("a file that does not exist", got=path, advice="check the spelling of the path") from None
    except IsADirectoryError:
        raise TextError("a folder where a file is needed", got=path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TextError("a .gz file that cannot be unzipped", got=f"{path}: {error}") from None
    except OSError as error:
        raise TextError("a file that cannot be read", got=f"{path}: {error.strerror or error}") from None


def read_bounded(path: Path, *, limit: int) -> bytes:
    """The bytes of a file, or a TextError where there are more than `limit`."""
    with reading(path) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise TextError("a file that is too large for what it should be", got=path, expected=f"at most {limit} bytes")
    return content


def numbered_lines(stream: BufferedIOBase, *, name: object, limit: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """The lines of a stream, ends included, counted from one; only a line feed ends a line."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise TextError("a line that is too long", got=f"{name}, line {number}", expected=f"at most {limit} bytes")
        yield number, line


def decode_lines(stream: BufferedIOBase, *, name: object, keep_ends: bool = False) -> Iterator[str]:
    """The lines of a UTF-8 stream as text.

    Args:
        stream: The bytes.
        name: What to call the stream in an error.
        keep_ends: Whether a line keeps the line feed that ends it.
    """
    for number, line in numbered_lines(stream, name=name):
        content = line.removeprefix(_BOM) if number == 1 else line
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TextError(
                "bytes that are not UTF-8",
                got=f"{name}, line {number}: byte {content[error.start]:#04x} at {error.start}",
                expected="text encoded as UTF-8",
                advice="convert the file first, for instance with iconv -f latin1 -t utf-8",
            ) from None
        yield text if keep_ends else text.removesuffix("\n").removesuffix("\r")


def read_lines(path: Path, *, keep_ends: bool = False) -> Iterator[str]:
    """The lines of a UTF-8 file as text, one at a time."""
    with reading(path) as stream:
        yield from decode_lines(stream, name=path, keep_ends=keep_ends)


@contextmanager
def replacing(path: Path) -> Generator[BufferedIOBase, None, None]:
    """A new file that takes the place of `path` when the block ends well, and vanishes when it does not."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise TextError("a file that cannot be written", got=f"{path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            fresh.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system lets a folder be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
