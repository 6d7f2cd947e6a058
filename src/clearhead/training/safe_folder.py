"""Folders that appear wholly or not at all, on disks that may fill up and machines that may stop."""

import os
import re
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")


@contextmanager
def new_folder(path: Path) -> Generator[Path]:
    """A temporary folder that takes the name `path` when the block ends well, and vanishes when it does not.

    What had the name before is replaced. Between its going and the new one's coming there is a moment with
    neither, so a caller must not depend on a single name.

    Raises:
        OSError: The disk would not take it.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    fresh.mkdir(parents=True)
    try:
        yield fresh
        for file in fresh.iterdir():
            sync(file)
        sync(fresh)
        if path.exists():
            old = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
            path.rename(old)
            fresh.rename(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            fresh.rename(path)
        sync(path.parent)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def sync(path: Path) -> None:
    """Has the disk keep a file, or what a folder lists, where the system can be asked to."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() or os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Removes what killed processes left half-written in a folder."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if _LEFTOVER.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
