"""Training beside a loop around torch.nn.Transformer, as benchmarks/train.py measures it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import torch

SCRIPT = Path(__file__).parents[1] / "train.py"
NARROW = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "CLEARHEAD_LANES": "8"}
"""What makes torch and ours do with the registers of AVX2, as most laptops have them."""


def measure(*, threads: int, rounds: int) -> dict[str, object]:
    """Tokens a second of both, padding not counted, and the share of the peak of products."""
    found = _measured(threads=threads, rounds=rounds)
    if torch.backends.cpu.get_cpu_capability().startswith("AVX512"):
        found["with_avx2_alone"] = _measured(threads=threads, rounds=rounds, **NARROW)
    return found


def _measured(*, threads: int, rounds: int, **variables: str) -> dict[str, object]:
    command = [sys.executable, str(SCRIPT), "--threads", str(threads), "--rounds", str(rounds), "--optimiser", "adamw"]
    around = os.environ | variables
    told = subprocess.run(command, check=True, capture_output=True, text=True, env=around).stdout  # noqa: S603
    ours, share = re.search(r"clearhead +(\d+) tokens/s, (\d+)%", told).groups()
    (of_fastest,) = re.search(r"(\d+)% of the peak of the fastest", told).groups()
    (theirs,) = re.search(r"naive loop +(\d+) tokens/s", told).groups()
    return {
        "tokens_per_second": {"clearhead": int(ours), "torch.nn.Transformer": int(theirs)},
        "ratio": round(int(ours) / int(theirs), 2),
        "percent_of_peak": int(share),
        "percent_of_fastest_peak": int(of_fastest),
    }
