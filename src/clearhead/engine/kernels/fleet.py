"""Threads that run one kernel together.

A kernel is called once by every thread, with that thread's place; inside, threads wait for one another in a loop
that looks at a counter, because the stages of a step are shorter than waking a thread.
"""

import os
import queue
import threading
from collections.abc import Callable

import numpy as np
import torch

Kernel = Callable[..., None]


class Fleet:
    """Some threads, the calling one among them.

    Args:
        size: How many.
    """

    def __init__(self, *, size: int) -> None:
        self.size = size
        self._lock = threading.Lock()
        # Two counters, in turn: a thread may still look at the last one when the next run begins.
        self._counters = np.zeros((2, 8), dtype=np.int64)
        self._barriers = [counter.ctypes.data for counter in self._counters]
        self._turn = 0
        self._orders: list[queue.SimpleQueue[tuple[Kernel, tuple[object, ...]]]] = []
        for place in range(1, size):
            orders: queue.SimpleQueue[tuple[Kernel, tuple[object, ...]]] = queue.SimpleQueue()
            self._orders.append(orders)
            threading.Thread(target=self._serve, args=(place, orders), name=f"kernel-{place}", daemon=True).start()

    def run(self, kernel: Kernel, *args: object) -> None:
        """Runs a kernel; when it comes back, all threads are done."""
        if self.size == 1:
            kernel(0, 1, 0, *args)
            return
        with self._lock:
            self._turn = 1 - self._turn
            self._counters[self._turn] = 0
            barrier = self._barriers[self._turn]
            for orders in self._orders:
                orders.put((kernel, (barrier, *args)))
            kernel(0, self.size, barrier, *args)

    def _serve(self, place: int, orders: "queue.SimpleQueue[tuple[Kernel, tuple[object, ...]]]") -> None:
        while True:
            kernel, args = orders.get()
            kernel(place, self.size, *args)


_WORTH_WAKING = 2**22
"""Multiplications from which on a piece of work takes longer than waking another thread."""

_fleets: dict[tuple[int, int], Fleet] = {}
_alone = Fleet(size=1)


def crew(n_multiplications: int) -> Fleet:
    """Who does a piece of work: all threads, or the calling one alone where it is small."""
    return fleet() if n_multiplications >= _WORTH_WAKING else _alone


def fleet() -> Fleet:
    """The threads of this process: as many as torch uses."""
    key = (os.getpid(), torch.get_num_threads())
    found = _fleets.get(key)
    if found is None:
        found = _fleets[key] = Fleet(size=key[1])
    return found
