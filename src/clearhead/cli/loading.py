"""Loading without looking for garbage.

Takes: a block that imports and loads.
Gives: the same, sooner; and a sooner end of the process.
Uses:  Python's own collector.
Never: another program's objects: where PyTorch is there already, the process is not ours alone.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Generator[None]:
    """Looks for no garbage until the block ends, and never again in what it made.

    Modules and weights are many objects and next to no garbage, and they stay until the process ends. Python would
    look through all of them again and again while they become more, and once more at the end.
    """
    if "torch" in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
