"""How many inputs of one output lie side by side in memory: as many as the processor adds up at once.

Four bytes by four where it has instructions for that (VNNI); two numbers of 16 bits by two everywhere else.
"""

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

PAIRS, QUADS = 2, 4


@cache
def depth() -> int:
    """The number of them here; the variable lets tests have pairs where there are quads."""
    if os.environ.get("CLEARHEAD_DEPTH") == str(PAIRS) or find_spec("llvmlite") is None:
        return PAIRS
    binding: Any = import_module("llvmlite.binding")
    has = binding.get_host_cpu_features()
    wide = has.get("avx512bw") and has.get("avx512vl") and has.get("avx512vnni")
    return QUADS if wide or has.get("avxvnni") else PAIRS
