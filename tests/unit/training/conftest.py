from pathlib import Path

import pytest

from clearhead.data import TokenStore

from .specimen import write_store


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return write_store(tmp_path / "store")
