"""Training beside a loop around torch.nn.Transformer, as benchmarks/train.py measures it."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "train.py"


def measure(*, threads: int, rounds: int) -> dict[str, object]:
    """Tokens a second of both, padding not counted, and the share of the peak of products."""
    command = [sys.executable, str(SCRIPT), "--threads", str(threads), "--rounds", str(rounds), "--optimiser", "adamw"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    ours, share = re.search(r"clearhead +(\d+) tokens/s, (\d+)%", told).groups()
    (of_fastest,) = re.search(r"(\d+)% of the peak of the fastest", told).groups()
    (theirs,) = re.search(r"naive loop +(\d+) tokens/s", told).groups()
    return {
        "tokens_per_second": {"clearhead": int(ours), "torch.nn.Transformer": int(theirs)},
        "ratio": round(int(ours) / int(theirs), 2),
        "percent_of_peak": int(share),
        "percent_of_fastest_peak": int(of_fastest),
    }
