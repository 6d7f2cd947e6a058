"""Text that a verb reads: from arguments, from files, from standard input.

Takes: arguments and paths; `-` is standard input.
Gives: segments, one line each, and progress on a terminal while files are read.
Uses:  errors, text; rich, on a terminal only.
Never: a bar in a pipe.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from clearhead.errors import TextError
from clearhead.text.files import decode_lines, reading

__all__ = ["STDIN", "counting", "from_keyboard", "progress", "read_corpus", "segments"]

STDIN = "standard input"
_LINES_A_STEP = 1000


def segments(texts: Sequence[str]) -> Iterator[str]:
    """The texts given as arguments, or else the lines of standard input."""
    if texts:
        yield from texts
    else:
        yield from decode_lines(_stdin(), name=STDIN)


def from_keyboard() -> bool:
    """Whether standard input is somebody who types."""
    return cast(object, sys.stdin) is not None and sys.stdin.isatty()


def read_corpus(
    files: Sequence[Path], *, report: Callable[[int], None], keep_ends: bool = False, every: int = _LINES_A_STEP
) -> Iterator[str]:
    """The lines of files, one after another.

    Args:
        files: Text files, zipped where their names end in .gz; `-` for standard input.
        report: Told now and then how many bytes of the files have been read.
        keep_ends: Whether a line keeps the line feed that ends it.
        every: After how many lines the report is told.
    """
    before = 0
    for path in files:
        if str(path) == "-":
            yield from decode_lines(_stdin(), name=STDIN, keep_ends=keep_ends)
            continue
        with reading(path) as stream:
            raw: Any = getattr(stream, "fileobj", stream)
            for number, line in enumerate(decode_lines(stream, name=path, keep_ends=keep_ends)):
                if number % every == 0 and raw.seekable():
                    report(before + raw.tell())
                yield line
        before += path.stat().st_size
        report(before)


@contextmanager
def progress(
    label: str, files: Sequence[Path], *, reads_ahead: bool = True
) -> Generator[Callable[[int], None], None, None]:
    """A bar on standard error that fills as files are read, with the time left; nothing where that is no terminal.

    Args:
        label: What is done with them.
        files: The files; none for no bar.
        reads_ahead: Whether all is read before the work begins, so that the bar speaks of reading until then.
    """
    if not files or not _is_terminal():
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
        task = bar.add_task(f"reading, {label}" if reads_ahead else label, total=total)

        def report(n_bytes: int) -> None:
            done = total is not None and n_bytes >= total
            bar.update(task, completed=n_bytes, description=label if done else None)

        yield report


@contextmanager
def counting(label: str) -> Generator[Callable[[int], None], None, None]:
    """A count on standard error of what is added to it; nothing where that is no terminal."""
    if not _is_terminal():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda count: bar.advance(task, count)


def _is_terminal() -> bool:
    return cast(object, sys.stderr) is not None and sys.stderr.isatty()


def _stdin() -> BufferedIOBase:
    if cast(object, sys.stdin) is None:
        raise TextError("nothing to read: standard input is closed", advice="texts as arguments, or --file FILE")
    return cast(BufferedIOBase, sys.stdin.buffer)


def _size(files: Sequence[Path]) -> int | None:
    """How many bytes there are to read, or None where that cannot be known."""
    sizes = [path.stat().st_size if path.is_file() else None for path in files]
    return None if None in sizes else sum(size or 0 for size in sizes)
