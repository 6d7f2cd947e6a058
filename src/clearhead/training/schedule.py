"""The learning rate at a step, as a share of its peak.

    warm-up               step / warmup
    inverse square root   sqrt(warmup / step)                                  (Vaswani et al. 2017, section 5.3)
    cosine                floor + (1 - floor) · (1 + cos(π · progress)) / 2     (Loshchilov and Hutter 2017)
    constant              1

`progress` goes from 0 at the end of the warm-up to 1 at the last step. A cooldown multiplies the end of any of
them by a line down to 0.
"""

import math

from clearhead.training.settings import ScheduleKind, ScheduleSettings


def rate_at(step: int, *, schedule: ScheduleSettings, n_steps: int | None) -> float:
    """The share of the peak at a step, which counts from 1.

    Args:
        step: The step that is about to be made.
        schedule: The shape.
        n_steps: Steps of the run; None while a time budget is still being measured, when nothing falls yet.
    """
    assert step >= 1
    warmup = schedule.warmup_steps
    share = step / warmup if step < warmup else _after_warmup(step, schedule, n_steps)
    return share if n_steps is None else share * _cooldown(step, schedule.cooldown, n_steps)


def _after_warmup(step: int, schedule: ScheduleSettings, n_steps: int | None) -> float:
    warmup = max(1, schedule.warmup_steps)
    match schedule.kind:
        case ScheduleKind.INVERSE_SQUARE_ROOT:
            return math.sqrt(warmup / step)
        case ScheduleKind.COSINE:
            if n_steps is None:
                return 1.0
            progress = min(1.0, (step - warmup) / max(1, n_steps - warmup))
            return schedule.floor + (1 - schedule.floor) * (1 + math.cos(math.pi * progress)) / 2
        case ScheduleKind.CONSTANT:
            return 1.0


def _cooldown(step: int, cooldown: float, n_steps: int) -> float:
    """A line from 1, where the cooldown starts, to just above 0 at the last step."""
    length = cooldown * n_steps
    return 1.0 if not length else max(0.0, min(1.0, (n_steps - step + 1) / (length + 1)))
