"""From nothing to a first translation, beside importing torch alone: in turns, with all modules compiled beforehand."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

COMMANDS = {
    "import torch": [sys.executable, "-c", "import torch"],
    "translate": [sys.executable, "-m", "clearhead", "translate", "Hello", "--to", "fr"],
}


def measure(*, rounds: int) -> dict[str, object]:
    """Seconds of both, in fresh processes that take turns, so that a busy moment slows them alike."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as compiled:
        # pip compiles what it installs; a checkout may be forbidden to write what it compiled.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPYCACHEPREFIX": compiled}
        for _ in range(rounds + 1):
            for name, command in COMMANDS.items():
                start = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603
                taken[name].append(time.perf_counter() - start)
    seconds = {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first one compiled
    return {
        "seconds": {name: round(median, 2) for name, median in seconds.items()},
        "ratio": round(seconds["translate"] / seconds["import torch"], 2),
    }
