"""What tests of the server share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..cli.tiny_folders import make_folders
from .live_server import LiveServer, live_server

TINY = ("gpt2", "t5", "polyglot", "bert-masks", "bert-labels", "bert-answers", "bert")


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of tiny models of every family."""
    return make_folders(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def tiny_server(tiny_folders: Path) -> Iterator[LiveServer]:
    """A server of tiny random models."""
    with live_server(*(tiny_folders / name for name in TINY)) as server:
        yield server


@pytest.fixture(scope="session")
def server() -> Iterator[LiveServer]:
    """A server of the embedded models."""
    with live_server() as server:
        yield server
