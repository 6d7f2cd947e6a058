"""Two hundred streaming clients for a minute: every text is whole and its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.long


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("model", ["storyteller", "stories15M"])
def test_two_hundred_clients_for_a_minute(model: str, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(shared / "models" / model) if model == "stories15M" else model
    command = [sys.executable, "benchmarks/load.py", "--clients", "200", "--seconds", "60", "--model", place, "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    with capsys.disabled():  # the log of the long tests keeps it
        print(f"\n{model}, float32: {json.dumps(found, indent=1)}")  # noqa: T201
    for account in (found["alone"], found["together"]):
        assert account["answers"] > 0
        assert account["wrong"] == account["cut_off"] == 0
        assert set(account["statuses"]) <= {"200", "429"}
    assert found["stopped"] == 0
    assert found["ratio"]["second"] >= 3
