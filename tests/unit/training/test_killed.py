"""A run that is killed at any moment ends as one that is not: weights, optimiser and log are the same to the bit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes to be killed are forks")
def test_a_killed_run_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_run.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    # In memory where there is such a place: a disk takes its time to write everything for certain.
    memory = Path("/dev/shm")  # noqa: S108
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as home:
        command = [sys.executable, str(script), home]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert [line for line in report if not line["equal"]] == []
    # The moments were before the end, or nothing was tried.
    assert sum(line["n_tries"] == 1 for line in report) >= len(report) - 3
