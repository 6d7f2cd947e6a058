"""Kernels for narrow registers, on a machine that may have wide ones."""

import os
import subprocess
import sys
from pathlib import Path


def test_what_holds_of_the_kernels_holds_with_eight_lanes(tmp_path: Path) -> None:
    here = Path(__file__).parent
    files = [str(here / f"test_{name}.py") for name in ("curves", "leading", "products", "whole_texts")]
    environment = os.environ | {"CLEARHEAD_LANES": "8", "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=here.parents[3])
    assert done.returncode == 0, done.stdout[-3000:]
    found = subprocess.run(
        [sys.executable, "-c", "from clearhead.engine.kernels.instructions import LANES; print(LANES)"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "8"
