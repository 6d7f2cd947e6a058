"""A tape: the listener that keeps what passes while a model runs, in memory or on the disk."""

import inspect
import math
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clearhead.errors import TraceError
from clearhead.globs import Globs
from clearhead.probe import Edit, edited, present
from clearhead.trace.lines import line_at, line_of
from clearhead.trace.trace import SourceLine

_FLOAT_BYTES = 4
IDS = "@ids"
"""Passes the probes before each step of decoding: what is heard after it belongs to that step."""


class Piece(NamedTuple):
    """What passed a site once, or several like sites together.

    Attributes:
        step: Which step of decoding it was, from 0; -1 for what came before the first.
        shape: The shape of the value of one site.
        value: The values of the sites, one after another; None where they lie on the disk.
        start: Where they begin on the disk.
        sites: The sites.
    """

    step: int
    shape: tuple[int, ...]
    value: np.ndarray | None
    start: int
    sites: tuple[str, ...]

    def of(self, site: str) -> np.ndarray:
        """The value of a site, where it lies in memory."""
        assert self.value is not None, "it lies on the disk"
        return self.value[self.sites.index(site)]


class Tape:
    """Keeps the values of some sites, step by step.

    Args:
        sites: Site names or globs.
        out: The file that the trace will go to; values then wait on the disk, in a file without a name beside it.
    """

    only_copies = True
    takes_arrays = True

    def __init__(self, *, sites: Sequence[str], out: Path | None = None) -> None:
        self._globs = Globs(patterns=tuple(sites))
        self.out = out
        self._file: Any = None
        if out is not None:
            self._file = _scratch(out)
            weakref.finalize(self, self._file.close)
        self._end = 0
        self.step = -1
        self._pieces: dict[str, list[Piece]] = {}
        self._raw: list[tuple[int, tuple[int, ...], np.ndarray | None, int, tuple[str, ...]]] = []
        self.lines: dict[str, SourceLine | None] = {}
        self.edited: set[str] = set()

    @property
    def asked(self) -> tuple[str, ...]:
        """The names or globs that were asked for."""
        return self._globs.patterns

    @property
    def passed(self) -> tuple[str, ...]:
        """Every site that passed, whether it was kept or not."""
        return tuple(site for site in self._globs.seen if not site.startswith("@"))

    @property
    def kept(self) -> tuple[str, ...]:
        """Every site that was kept, in the order in which they first passed."""
        return tuple(self._pieces)

    @property
    def pieces(self) -> dict[str, list[Piece]]:
        """What passed each site; steps are short, and what they left is told apart only now."""
        raw, self._raw = self._raw, []
        for step, shape, values, start, sites in raw:
            value = None if values is None else values.reshape(len(sites), *shape)
            piece = Piece(step, shape, value, start, sites)
            for site in sites:
                self._pieces[site].append(piece)
        return self._pieces

    def wants(self, site: str) -> bool:
        """Whether the site is a value of the model that was asked for."""
        return (self._globs.match(site) and "@" not in site) or site == IDS

    def wants_all(self, sites: tuple[str, ...]) -> tuple[bool, ...]:
        """Whether each of these values of the model was asked for."""
        return self._globs.match_all(sites)

    def hear(self, site: str, value: Any) -> Any:
        """Keeps a copy and lets the value pass."""
        if site == IDS:
            self.step += 1
            return value
        self.keep(site, value.numpy(force=True))
        return value

    def expect(self, sites: tuple[str, ...]) -> None:
        """Makes place for sites whose values come next, in this order."""
        here = inspect.currentframe()
        # The one before: a frame that knows itself would hold all that the run made until somebody looks for rings.
        here = here and here.f_back
        edits, line = any(isinstance(one, Edit) for one in present()), line_at(here)
        for site in sites:
            if site not in self._pieces:
                self._pieces[site] = []
                if edits and _is_edited(site):
                    self.edited.add(site)
                self.lines[site] = line_of(site, line)

    def keep(self, site: str, array: np.ndarray) -> None:
        """Keeps a copy of an array."""
        if site not in self._pieces:
            self.expect((site,))
        self.keep_all((site,), array[None], array.shape)

    def keep_all(self, sites: tuple[str, ...], values: np.ndarray, shape: tuple[int, ...]) -> None:
        """Keeps a copy of the values of several sites, which lie one after another, each of this shape."""
        kept = values.copy() if self._file is None else None
        self._raw.append((self.step, shape, kept, 0 if kept is not None else self._stored(values), sites))

    def _stored(self, values: np.ndarray) -> int:
        """Writes values to the disk; gives where they begin there."""
        content = np.ascontiguousarray(values, dtype=np.float32)
        self._file.write(content.data)
        start, self._end = self._end, self._end + content.nbytes
        return start

    def value(self, piece: Piece, site: str) -> np.ndarray:
        """The value of a site, read from the disk where it lies there."""
        if piece.value is not None:
            return piece.of(site)
        n_bytes = math.prod(piece.shape) * _FLOAT_BYTES
        self._file.seek(piece.start + n_bytes * piece.sites.index(site))
        return np.frombuffer(self._file.read(n_bytes), dtype=np.float32).reshape(piece.shape)


_STEERED = {
    "position": "@positions",
    "rotated_query": "@positions",
    "rotated_key": "@positions",
    "score": "@bias",
}
"""What steers the values of these sites, so that an edit of it is an edit of them."""


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
