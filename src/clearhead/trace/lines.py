"""The line of this package that computed a value: the one whose probe was heard."""

import linecache
from functools import cache
from pathlib import Path
from types import FrameType

import clearhead
from clearhead.trace.trace import SourceLine

_HOME = Path(clearhead.__file__).parent
_MACHINERY = ("probe.py", "trace/tape.py")
_KERNELS = "engine/kernels/"
_ATTENTION = sorted((_HOME / "nn" / "attention").glob("*.py"))
_BLOCK = [_HOME / "nn" / "block.py"]
_PARTS = {"self": _ATTENTION, "cross": _ATTENTION, "ffn": [_HOME / "nn" / "feedforward.py"]}
"""Where the probes are that a kernel stands in for, by the part of a block."""


def line_at(frame: FrameType | None) -> SourceLine | None:
    """The nearest line of this package outside the machinery of listening.

    Args:
        frame: Where something is being heard.
    """
    while frame is not None:
        line = _line_at(frame.f_code.co_filename, frame.f_lineno)
        if line is not None:
            return line
        frame = frame.f_back
    return None


def line_of(site: str, line: SourceLine | None) -> SourceLine | None:
    """The line that computed a site, of which the nearest is known.

    A kernel stands in for the parts and has no probes: what it computed is said to come from the part.

    Args:
        site: The site that is being heard.
        line: The nearest line.
    """
    if line is None or not line.file.startswith(_KERNELS):
        return line
    parent, _, leaf = site.rpartition(".")
    return _probe_of(parent.rpartition(".")[-1], leaf) or line


@cache
def _line_at(file: str, number: int) -> SourceLine | None:
    """A line of this package outside the machinery of listening; None for any other."""
    path = Path(file)
    if not path.is_relative_to(_HOME) or (name := path.relative_to(_HOME).as_posix()) in _MACHINERY:
        return None
    return SourceLine(file=name, line=number, code=linecache.getline(file, number).strip())


@cache
def _probe_of(part: str, leaf: str) -> SourceLine | None:
    """The line with the probe of this name in a part of a block; of two ways, the one that is spelled out."""
    found = [
        _line_at(str(path), number)
        for path in (*_PARTS.get(part, ()), *_BLOCK)
        for number, code in enumerate(linecache.getlines(str(path)), start=1)
        if f'probe("{leaf}"' in code
    ]
    return found[-1] if found else None
