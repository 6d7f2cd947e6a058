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

    A kernel stands in for the parts and has no probes: what attention computed in it is said to come from the part.

    Args:
        site: The site that is being heard.
        line: The nearest line.
    """
    if line is None or not line.file.startswith(_KERNELS):
        return line
    return _probe_of(site.rsplit(".", maxsplit=1)[-1]) or line


@cache
def _line_at(file: str, number: int) -> SourceLine | None:
    """A line of this package outside the machinery of listening; None for any other."""
    path = Path(file)
    if not path.is_relative_to(_HOME) or (name := path.relative_to(_HOME).as_posix()) in _MACHINERY:
        return None
    return SourceLine(file=name, line=number, code=linecache.getline(file, number).strip())


@cache
def _probe_of(leaf: str) -> SourceLine | None:
    """The line of attention with the probe of this name; None where there is none, or more than one."""
    found = [
        _line_at(str(path), number)
        for path in _ATTENTION
        for number, code in enumerate(linecache.getlines(str(path)), start=1)
        if f'probe("{leaf}"' in code
    ]
    return found[0] if len(found) == 1 else None
