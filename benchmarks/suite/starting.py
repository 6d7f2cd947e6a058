"""From nothing to a first translation, beside importing torch alone."""

import sys

from machine import started


def measure(*, rounds: int) -> dict[str, object]:
    """Seconds of both, in fresh processes."""
    python = sys.executable
    seconds = {
        "import torch": started([python, "-c", "import torch"], rounds=rounds),
        "translate": started([python, "-m", "clearhead", "translate", "Hello", "--to", "fr"], rounds=rounds),
    }
    return {
        "seconds": {name: round(taken, 2) for name, taken in seconds.items()},
        "ratio": round(seconds["translate"] / seconds["import torch"], 2),
    }
