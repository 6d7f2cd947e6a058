"""Loading without looking for garbage, and collecting as before once all is there."""

import gc
import subprocess
import sys

import pytest

from clearhead.cli.loading import uncollected

ALONE = """
import gc
from clearhead.cli.loading import uncollected
with uncollected():
    assert not gc.isenabled()
    kept = [[] for _ in range(1000)]
print(gc.isenabled(), gc.get_freeze_count() >= len(kept))
try:
    with uncollected():
        raise OSError
except OSError:
    print(gc.isenabled())
"""


def test_nothing_is_looked_through_while_loading_nor_afterwards() -> None:
    run = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "True", "True"]


def test_a_process_that_has_torch_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys.modules.get("torch"))
    frozen = gc.get_freeze_count()
    with uncollected():
        assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
