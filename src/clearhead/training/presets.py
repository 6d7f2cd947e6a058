"""Settings that suit a task and a size, to start from."""

from dataclasses import replace
from typing import Any

from clearhead.config import SIZES
from clearhead.data import Task
from clearhead.errors import ConfigError, nearest
from clearhead.training.settings import (
    AverageKind,
    AverageSettings,
    DropoutSettings,
    OptimiserKind,
    OptimiserSettings,
    ScheduleKind,
    ScheduleSettings,
    TrainSettings,
)

_RATES = {"tiny": 3e-3, "small": 1.5e-3, "base": 7e-4}
_MUON_RATES = {"tiny": 6e-3, "small": 4e-3, "base": 2e-3}
_MUON_DECAY = 0.1
_LONG = (Task.TRANSLATE, Task.LANGUAGE_MODEL, Task.MASKED_LANGUAGE_MODEL)
"""Tasks that a model is trained for from nothing, where Muon pays (docs/experiments/training.md)."""
_COSINE = ScheduleSettings(kind=ScheduleKind.COSINE, warmup_steps=100, floor=0.1)
_MOVING = AverageSettings(kind=AverageKind.EMA)
_FINE_TUNED = OptimiserSettings(beta2=0.999, epsilon=1e-8)

_TASKS: dict[Task, dict[str, Any]] = {
    Task.TRANSLATE: {
        "label_smoothing": 0.1,
        "schedule": ScheduleSettings(warmup_steps=400, cooldown=0.2),
        "average": _MOVING,
        "dropout": DropoutSettings(residual=0.1),
    },
    Task.LANGUAGE_MODEL: {
        "schedule": _COSINE,
        "optimiser": OptimiserSettings(beta2=0.95, epsilon=1e-8, weight_decay=0.1),
        "dropout": DropoutSettings(residual=0.1),
    },
    Task.MASKED_LANGUAGE_MODEL: {"schedule": _COSINE, "dropout": DropoutSettings(residual=0.1)},
    Task.CLASSIFY: {
        "schedule": _COSINE,
        "optimiser": _FINE_TUNED,
        "dropout": DropoutSettings(residual=0.1),
        "metric": "accuracy",
        "maximise": True,
        "patience": 5,
    },
    Task.SIMILARITY: {"schedule": _COSINE, "optimiser": _FINE_TUNED, "average": _MOVING, "patience": 5},
}
"""What each task changes of the defaults."""


def train_preset(
    name: str,
    *,
    task: Task,
    steps: int | None = None,
    time_budget: float | None = None,
    fine_tune: bool = False,
    optimiser: OptimiserKind | None = None,
) -> TrainSettings:
    """Settings to start from.

    Args:
        name: The size of the model: tiny, small or base.
        task: What it is trained to do.
        steps: Steps of the run; or
        time_budget: its seconds.
        fine_tune: Whether the weights are trained already, and should move little.
        optimiser: What makes the steps; by default what suits the task.

    Raises:
        ConfigError: No preset of that name.
    """
    if name not in _RATES:
        raise ConfigError("an unknown preset", got=name, expected=", ".join(_RATES), advice=nearest(name, _RATES))
    assert _RATES.keys() <= SIZES.keys()
    settings = TrainSettings(lr=_RATES[name], steps=steps, time_budget=time_budget, **_TASKS[task])
    if fine_tune:
        return replace(settings, lr=settings.lr / 30)
    if (optimiser or (OptimiserKind.MUON if task in _LONG else OptimiserKind.ADAMW)) is OptimiserKind.ADAMW:
        return settings
    muon = replace(settings.optimiser, kind=OptimiserKind.MUON, weight_decay=_MUON_DECAY)
    return replace(settings, lr=_MUON_RATES[name], optimiser=muon)
