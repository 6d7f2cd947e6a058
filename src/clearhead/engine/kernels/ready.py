"""When kernels are there: loading and compiling them, and doing without."""

import atexit
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

WORTHWHILE = 5_000_000_000
"""Multiplications after which loading kernels has paid for itself; less work goes by parts."""

_DONE, _LEARNED = "compiled", "learned"
"""What says that kernels lie in a folder: all of those who run models, and those of who trains them."""
_KEPT = 60 * 24 * 3600
"""Seconds after which compiled kernels that nobody used are forgotten."""
_ENTRIES = ("step", "by_itself", "leading", "searching", "writing")
_LEARNING = "learning"
"""Files of what Python calls; the last by those who train."""
_COMPILED = (
    "attention",
    "by_itself",
    "columns",
    "curves",
    "depth",
    "fields",
    "instructions",
    "int8_tiles",
    "leading",
    "learning",
    "machine",
    "multiply",
    "norms",
    "panels",
    "rows",
    "searching",
    "step",
    "within",
    "writing",
)
"""These, and every file that they are made of."""
_COMPILE = "from clearhead.engine.kernels.ready import load; load()"


class Kernels(NamedTuple):
    """What is compiled: steps through blocks, of writing and of beams; products, rows of a table, the likeliest ids."""

    pass_blocks: Callable[..., None]
    multiply_rows: Callable[..., None]
    look_up: Callable[..., None]
    lead: Callable[..., None]
    search_on: Callable[..., None]
    write_on: Callable[..., None]


class Learning(NamedTuple):
    """What is compiled for those who train: the three products of a layer."""

    forwards: Callable[..., None]
    to_rows: Callable[..., None]
    to_weights: Callable[..., None]


class _State:
    """What this process knows about its kernels."""

    def __init__(self) -> None:
        self.loaded: Kernels | None = None
        self.failed = not available()
        self.lock = threading.Lock()
        self.beginning = threading.Lock()
        self.compiler: subprocess.Popen[bytes] | None = None
        self.done = 0


def available() -> bool:
    """Whether kernels can be had here: Numba is installed, and nothing forbids it."""
    return os.environ.get("CLEARHEAD_KERNELS", "1") != "0" and find_spec("numba") is not None


def kernels() -> Kernels | None:
    """The compiled kernels; None where there are none, or not yet."""
    return None if _hidden.get() else _state.loaded


@contextmanager
def by_parts() -> Generator[None]:
    """Does without kernels until the block ends: the same numbers, from the parts alone."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


def load() -> Kernels | None:
    """The compiled kernels, which are compiled if need be; None where there are none."""
    with _state.lock:
        if _state.loaded is None and not _state.failed:
            try:
                _state.loaded = _imported()
            except Exception as error:  # noqa: BLE001  (whatever a compiler cannot do here, the parts can)
                _state.failed = True
                warnings.warn(f"kernels cannot be compiled, all goes by PyTorch: {error}", stacklevel=2)
    return _state.loaded


@cache
def load_learning() -> Learning | None:
    """The products of layers that learn, which are compiled if need be; None where there are none."""
    if not available():
        return None
    with _state.lock:
        try:
            (found,) = _modules(_LEARNING, done=_LEARNED)
        except Exception as error:  # noqa: BLE001  (as above)
            warnings.warn(f"products cannot be compiled, all goes by PyTorch: {error}", stacklevel=2)
            return None
    return Learning(forwards=found.forwards, to_rows=found.to_rows, to_weights=found.to_weights)


def begin() -> None:
    """Loads kernels that lie on the disk; otherwise has them compiled by another process, and loads them later.

    Another process, because this one may end before a compiler has.
    """
    if _state.loaded is not None or _state.failed:
        return
    with _state.beginning:
        if (_folder() / _DONE).exists():
            load()
        elif _state.compiler is None:
            quiet = subprocess.DEVNULL
            _state.compiler = subprocess.Popen(  # noqa: S603  (our own code, in our own interpreter)
                [sys.executable, "-c", _COMPILE], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
        elif _state.compiler.poll() is not None and not (_folder() / _DONE).exists():
            _state.failed = True


def worked(n_multiplications: int) -> None:
    """Takes note of work that went by parts; once it is enough, kernels are loaded."""
    _state.done += n_multiplications
    if _state.done > WORTHWHILE and not _hidden.get():
        begin()


@cache
def _folder() -> Path:
    """Where compiled kernels lie: one folder for each text of the kernels, and for each place and time of their files.

    None is ever stale, and what Numba would not take from there, as it looks at places and times, is not there.
    """
    files = [Path(__file__).with_name(f"{name}.py") for name in _COMPILED]
    chosen = f"{os.environ.get('CLEARHEAD_LANES', '')} {os.environ.get('CLEARHEAD_DEPTH', '')}\n"
    text = chosen.encode() + b"".join(
        f"{path} {path.stat().st_mtime_ns}\n".encode() + path.read_bytes() for path in files
    )
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "clearhead" / f"kernels-{hashlib.sha256(text).hexdigest()[:16]}"


@cache
def _writable() -> Path:
    """Where this process compiles to: that folder, or one that goes when the process does."""
    folder = _folder()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    folder = Path(tempfile.mkdtemp(prefix="clearhead-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _modules(*names: str, done: str) -> list[Any]:
    """Files of kernels, compiled or read from the disk, where that is then written down."""
    numba: Any = import_module("numba")
    folder = _writable()
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        found = [import_module(f"clearhead.engine.kernels.{name}") for name in names]
    finally:
        numba.config.CACHE_DIR = before
    (folder / done).touch()
    if folder == _folder():
        _forget_others(folder)
    return found


def _imported() -> Kernels:
    step, by_itself, leading, searching, writing = _modules(*_ENTRIES, done=_DONE)
    return Kernels(
        pass_blocks=step.pass_blocks,
        multiply_rows=by_itself.multiply_rows,
        look_up=by_itself.look_up,
        lead=leading.lead,
        search_on=searching.search_on,
        write_on=writing.write_on,
    )


def _forget_others(folder: Path) -> None:
    """Removes what other versions compiled and nobody has used for long."""
    for other in folder.parent.glob("kernels-*"):
        try:
            marks = [mark for name in (_DONE, _LEARNED) if (mark := other / name).exists()] or [other]
            used = max(mark.stat().st_mtime for mark in marks)
            if other != folder and time.time() - used > _KEPT:
                shutil.rmtree(other, ignore_errors=True)
        except OSError:  # somebody else was quicker
            continue


_state = _State()
_hidden: ContextVar[bool] = ContextVar("hidden", default=False)
