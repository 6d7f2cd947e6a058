"""Text that a verb reads: from arguments, from files, from standard input.

Takes: arguments and paths; `-` is standard input.
Gives: segments, one line each, and progress on a terminal while files are read.
Uses:  text; rich, on a terminal only.
Never: a bar in a pipe.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from clearhead.text.files import decode_lines, reading

__all__ = ["progress", "read_corpus", "segments"]

STDIN = "standard input"
_LINES_A_STEP = 1000


def segments(texts: Sequence[str]) -> Iterator[str]:
    """The texts given as arguments, or else the lines of standard input."""
    if texts:
        yield from texts
    else:
        yield from decode_lines(_stdin(), name=STDIN)


def read_corpus(files: Sequence[Path], *, report: Callable[[int], None], keep_ends: bool = False) -> Iterator[str]:
    """The lines of files, one after another.

    Args:
        files: Text files, zipped where their names end in .gz; `-` for standard input.
        report: Told now and then how many bytes of the files have been read.
        keep_ends: Whether a line keeps the line feed that ends it.
    """
    before = 0
    for path in files:
        if str(path) == "-":
            yield from decode_lines(_stdin(), name=STDIN, keep_ends=keep_ends)
            continue
        with reading(path) as stream:
            raw: Any = getattr(stream, "fileobj", stream)
            for number, line in enumerate(decode_lines(stream, name=path, keep_ends=keep_ends)):
                if number % _LINES_A_STEP == 0 and raw.seekable():
                    report(before + raw.tell())
                yield line
        before += path.stat().st_size
        report(before)


@contextmanager
def progress(label: str, files: Sequence[Path]) -> Generator[Callable[[int], None], None, None]:
    """A bar on standard error that fills as files are read, with the time left; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        total = _size(files)
        task = bar.add_task(f"reading, {label}", total=total)

        def report(n_bytes: int) -> None:
            done = total is not None and n_bytes >= total
            bar.update(task, completed=n_bytes, description=label if done else None)

        yield report


def _stdin() -> BufferedIOBase:
    return cast(BufferedIOBase, sys.stdin.buffer)


def _size(files: Sequence[Path]) -> int | None:
    """How many bytes there are to read, or None where that cannot be known."""
    sizes = [path.stat().st_size if path.is_file() else None for path in files]
    return None if None in sizes else sum(size or 0 for size in sizes)
