"""A tape: the listener that keeps what passes while a model runs, in memory or on the disk."""

import inspect
import linecache
import math
import tempfile
import weakref
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import clearhead
from clearhead.errors import TraceError
from clearhead.probe import edited
from clearhead.trace.trace import SourceLine

_HOME = Path(clearhead.__file__).parent
_MACHINERY = ("probe.py", "trace/tape.py")
_FLOAT_BYTES = 4
IDS = "@ids"
"""Passes the probes before each step of decoding: what is heard after it belongs to that step."""


class Piece(NamedTuple):
    """What passed a site once.

    Attributes:
        step: Which step of decoding it was, from 0; -1 for what came before the first.
        shape: The shape of the value.
        value: The value; None where it lies on the disk.
        start: Where it begins on the disk.
    """

    step: int
    shape: tuple[int, ...]
    value: np.ndarray | None
    start: int


class Tape:
    """Keeps the values of some sites, step by step.

    Args:
        sites: Site names or globs.
        out: The file that the trace will go to; values then wait on the disk, in a file without a name beside it.
    """

    only_copies = True

    def __init__(self, *, sites: Sequence[str], out: Path | None = None) -> None:
        self._sites = tuple(sites)
        self._wanted: dict[str, bool] = {IDS: True}
        self.out = out
        self._file: Any = None
        if out is not None:
            self._file = _scratch(out)
            weakref.finalize(self, self._file.close)
        self._end = 0
        self.step = -1
        self.pieces: dict[str, list[Piece]] = {}
        self.lines: dict[str, SourceLine | None] = {}
        self.edited: set[str] = set()

    @property
    def asked(self) -> tuple[str, ...]:
        """The names or globs that were asked for."""
        return self._sites

    @property
    def passed(self) -> tuple[str, ...]:
        """Every site that passed, whether it was kept or not."""
        return tuple(site for site in self._wanted if not site.startswith("@"))

    def wants(self, site: str) -> bool:
        """Whether the site is one of those asked for."""
        wanted = self._wanted.get(site)
        if wanted is None:
            wanted = self._wanted[site] = _fits(site, self._sites)
        return wanted

    def hear(self, site: str, value: Any) -> Any:
        """Keeps a copy and lets the value pass."""
        if site == IDS:
            self.step += 1
            return value
        self.keep(site, value.numpy(force=True))
        return value

    def keep(self, site: str, array: np.ndarray) -> None:
        """Keeps a copy of an array."""
        pieces = self.pieces.get(site)
        if pieces is None:
            pieces = self.pieces[site] = []
            if _is_edited(site):
                self.edited.add(site)
            self.lines[site] = _line_of(inspect.currentframe())
        if self._file is None:
            pieces.append(Piece(self.step, array.shape, array.copy(), 0))
            return
        content = np.ascontiguousarray(array, dtype=np.float32)
        self._file.write(content.data)
        pieces.append(Piece(self.step, array.shape, None, self._end))
        self._end += content.nbytes

    def value(self, piece: Piece) -> np.ndarray:
        """The value of a piece, read from the disk where it lies there."""
        if piece.value is not None:
            return piece.value
        self._file.seek(piece.start)
        content = self._file.read(math.prod(piece.shape) * _FLOAT_BYTES)
        return np.frombuffer(content, dtype=np.float32).reshape(piece.shape)


_STEERED = {
    "position": "@positions",
    "rotated_query": "@positions",
    "rotated_key": "@positions",
    "score": "@bias",
}
"""What steers the values of these sites, so that an edit of it is an edit of them."""


@lru_cache(maxsize=4096)
def _fits(site: str, globs: tuple[str, ...]) -> bool:
    """Whether a site is a value of the model that one of the globs means; runs ask the same again and again."""
    return "@" not in site and any(fnmatchcase(site, glob) for glob in globs)


def _scratch(out: Path) -> Any:
    """A file without a name beside the one that the trace will go to."""
    if out.suffix == ".gz":
        raise TraceError("a trace is not zipped", got=out, expected="a name that ends in .safetensors")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=out.parent)
    except OSError as error:
        raise TraceError("a trace that cannot be saved", got=f"{out}: {error.strerror or error}") from None


def _is_edited(site: str) -> bool:
    stack, leaf = site.split(".", maxsplit=1)[0], site.rsplit(".", maxsplit=1)[-1]
    stacks = ("encoder", "decoder") if stack == "embed" else (stack,)
    steered = _STEERED.get(leaf)
    return edited(site) or (steered is not None and any(edited(f"{one}.{steered}") for one in stacks))


def _line_of(frame: Any) -> SourceLine | None:
    """The line whose probe is being heard: the nearest of this package outside the machinery of listening."""
    while frame is not None:
        line = _line_at(frame.f_code.co_filename, frame.f_lineno)
        if line is not None:
            return line
        frame = frame.f_back
    return None


@cache
def _line_at(file: str, number: int) -> SourceLine | None:
    """A line of this package outside the machinery of listening; None for any other."""
    path = Path(file)
    if not path.is_relative_to(_HOME) or (name := path.relative_to(_HOME).as_posix()) in _MACHINERY:
        return None
    return SourceLine(file=name, line=number, code=linecache.getline(file, number).strip())
