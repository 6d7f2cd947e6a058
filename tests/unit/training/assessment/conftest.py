import pytest

from clearhead.tasks.loaded import Loaded

from .specimens import train_translator


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return train_translator(tmp_path_factory.mktemp("translator"))
