"""Runs that take turns, so that a busy machine slows all of them; the ratio of the medians is what counts."""

import statistics
import time
from collections.abc import Callable

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""On a machine that others use too, only the time of the processor is comparable."""

_REST = 0.2
"""Seconds before each run: the threads of another's may still look out for work, and would take a processor."""


class Taken(dict[str, float]):
    """The median seconds of each run.

    Attributes:
        spread: How far the slowest round of each was from its quickest, as a share of its median.
    """

    spread: dict[str, float]


def taking_turns(runs: dict[str, Callable[[], object]], *, rounds: int, clock: str) -> Taken:
    """What each run takes, after one that does not count."""
    now = CLOCKS[clock]
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            time.sleep(_REST)
            start = now()
            run()
            seconds[name].append(now() - start)
    found = Taken({name: statistics.median(taken) for name, taken in seconds.items()})
    found.spread = {name: round((max(taken) - min(taken)) / found[name], 2) for name, taken in seconds.items()}
    return found


def in_pairs(plain: Callable[[], object], other: Callable[[], object], *, rounds: int, clock: str) -> list[float]:
    """How many times as long another run takes as a plain one, of every pair, from the least on.

    Who begins changes from pair to pair; what slows the machine for longer than a run slows both of a pair.
    """
    now = CLOCKS[clock]
    plain()
    other()  # the first of each does not count
    ratios: list[float] = []
    for number in range(rounds):
        seconds: dict[Callable[[], object], float] = {}
        for run in (plain, other) if number % 2 else (other, plain):
            start = now()
            run()
            seconds[run] = now() - start
        ratios.append(seconds[other] / seconds[plain])
    return sorted(ratios)
