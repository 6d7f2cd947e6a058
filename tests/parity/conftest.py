"""Every configuration as a fixture; one thread, so that all parity tests stay quick beside others."""

from collections.abc import Generator

import pytest
import torch

from .configurations import CASES, Case
from .specimen import Specimen, make_specimen


@pytest.fixture(scope="session", params=CASES, ids=str)
def specimen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    """A configuration on disk, in the reference and here."""
    case: Case = request.param
    return make_specimen(case, tmp_path_factory.mktemp("specimen"))


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Generator[None]:
    """Tiny matrices gain nothing from threads, and reference and ours must sum in one order to agree closely."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
