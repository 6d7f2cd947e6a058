"""Kernels for processors that can do less, on a machine that may do more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOUND = """
from clearhead.engine.kernels.depth import depth
from clearhead.engine.kernels.instructions import LANES
print(LANES, depth())
"""


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ({"CLEARHEAD_LANES": "8"}, ("curves", "leading", "products", "quick_products", "whole_texts")),
        ({"CLEARHEAD_LANES": "8", "CLEARHEAD_DEPTH": "2"}, ("products",)),
        ({"CLEARHEAD_DEPTH": "2"}, ("products", "steps")),
    ],
)
def test_what_holds_of_the_kernels_holds_with_less(
    chosen: dict[str, str], names: tuple[str, ...], tmp_path: Path
) -> None:
    here = Path(__file__).parent
    files = [str(here / f"test_{name}.py") for name in names]
    environment = os.environ | chosen | {"XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=here.parents[3])
    assert done.returncode == 0, done.stdout[-3000:]
    found = subprocess.run([sys.executable, "-c", FOUND], env=environment, capture_output=True, text=True, check=True)
    lanes, depth = found.stdout.split()
    assert lanes == chosen.get("CLEARHEAD_LANES", lanes)
    assert depth == chosen.get("CLEARHEAD_DEPTH", depth)
