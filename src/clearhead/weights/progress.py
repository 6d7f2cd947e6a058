"""A bar on standard error while weights are read.

Takes: what is read, and how many bytes there are.
Gives: a function to tell how many have been read.
Uses:  rich, on a terminal only.
Never: a bar in a pipe, or for what is over at once.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["Report", "progress_bar"]

LEAST_BYTES = 200_000_000

Report = Callable[[int, int], None]
"""Told now and then how many bytes have been read, and of how many."""


@contextmanager
def progress_bar(label: str, n_bytes: int) -> Generator[Report, None, None]:
    """A bar that fills as it is told of bytes, with the time left; nothing where that is no terminal."""
    if n_bytes < LEAST_BYTES or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console  # noqa: PLC0415  (most runs need no bar)
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=n_bytes)
        yield lambda done, total: bar.update(task, completed=done, total=total)
