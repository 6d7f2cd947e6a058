"""The time of a run: what it took so far, over all its processes, and how many steps fit into what is left."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from clearhead.training.world import World

LEAST_MEASURED = 8
"""Steps before a pace can be told."""
_FIRST_IGNORED = 2
_MEASURED_SHARE = 0.03
_SAFETY = 0.97
_ENDING = 2.5
"""Evaluations and checkpoints that the end of a run takes the time of: the last, and quality by length."""
_MOST_EVALUATIONS = 20
_EVALUATION_SHARE = 0.1


class Clock:
    """Counts the seconds of a run, from when its process took it up.

    Args:
        now: Where the time comes from.
    """

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._start = now()

    def add(self, seconds: float) -> None:
        """Counts what earlier processes of the run took."""
        self._start -= seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, without those in which no process ran."""
        return self._now() - self._start

    def meet(self, asked: int = 0) -> int:
        """Agrees with the other processes, where there are any, on the time and on what they were asked for meanwhile.

        Args:
            asked: The signal that this process heard; 0 for none.

        Returns:
            The signal that any of them heard.
        """
        return asked


class CommonClock(Clock):
    """The first process's clock as all of them read it: it stands still from one meeting to the next.

    So whatever is decided by the time is decided alike.

    Args:
        world: Who meets.
        now: Where the time comes from.
    """

    def __init__(self, *, world: World, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(now=now)
        self._world = world
        self._agreed = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, at the last meeting."""
        return self._agreed

    def meet(self, asked: int = 0) -> int:
        """Agrees with the other processes."""
        here = super().elapsed if self._world.is_first else 0.0
        self._agreed, heard = self._world.largest(here, asked)
        return int(heard)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Seconds that things take, as measured."""

    step: float
    evaluation: float
    saving: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long a run will be.

    Attributes:
        n_steps: All its steps.
        evaluate_every: Steps between evaluations.
        reserve: Seconds that its end takes: the last evaluation and checkpoint.
    """

    n_steps: int
    evaluate_every: int
    reserve: float


def is_measured(seconds: list[float], *, budget: float) -> bool:
    """Whether these durations of steps are enough to tell the pace of a run."""
    return len(seconds) >= LEAST_MEASURED and sum(seconds) >= _MEASURED_SHARE * budget


def mean_step(seconds: list[float]) -> float:
    """The mean duration of a step, without the first, which find memory and caches empty."""
    later = seconds[_FIRST_IGNORED:] or seconds
    return sum(later) / len(later)


def reserve_for(*, evaluation: float, saving: float) -> float:
    """Seconds that the end of a run takes."""
    return _ENDING * (evaluation + saving)


def plan_steps(*, done: int, left: float, pace: Pace, save_every: float, evaluate_every: int | None) -> Plan:
    """The steps that fit into the seconds that are left.

    Args:
        done: Steps made.
        left: Seconds left of the budget.
        pace: What things take.
        save_every: Seconds between checkpoints.
        evaluate_every: Steps between evaluations; None to evaluate as often as a tenth of the time allows.
    """
    stop = pace.evaluation + pace.saving
    reserve = reserve_for(evaluation=pace.evaluation, saving=pace.saving)
    usable = max(0.0, (left - reserve) * _SAFETY)
    step = pace.step * (1 + pace.saving / save_every)
    if evaluate_every is not None:
        n_new = int(usable / (step + stop / evaluate_every))
        return Plan(n_steps=done + max(1, n_new), evaluate_every=evaluate_every, reserve=reserve)
    most = _EVALUATION_SHARE * usable / stop if stop > 0 else math.inf
    n_evaluations = int(max(1, min(_MOST_EVALUATIONS, most)))
    n_new = int(max(0.0, usable - n_evaluations * stop) / step)
    return Plan(
        n_steps=done + max(1, n_new),
        evaluate_every=default_evaluate_every(max(1, n_new), n_evaluations),
        reserve=reserve,
    )


def default_evaluate_every(n_steps: int, n_evaluations: int = _MOST_EVALUATIONS) -> int:
    """Steps between evaluations, for so many of them."""
    return max(1, math.ceil(n_steps / n_evaluations))
