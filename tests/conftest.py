"""What tests of several rooms share."""

import os
from pathlib import Path

import pytest

# Said here because only this file is read where tests are handed to other processes.
from .parity.table import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data, from CLEARHEAD_SHARED or beside the repository."""
    folder = (ROOT / os.environ.get("CLEARHEAD_SHARED", "../shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set CLEARHEAD_SHARED")
    return folder
