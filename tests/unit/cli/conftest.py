"""What tests of the command line share."""

from pathlib import Path

import pytest

from .tiny_folders import Run, make_folders, make_run


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of tiny models, by the names that `make_folders` says."""
    return make_folders(tmp_path_factory.mktemp("models"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A run of the command line in this process."""
    return make_run(monkeypatch, capsys)
