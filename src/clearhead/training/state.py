"""Where a run is: all that is needed to go on, apart from tensors."""

from dataclasses import dataclass, field
from enum import StrEnum

from clearhead.config.record import RECORD


class Status(StrEnum):
    """Whether a run goes on, or why it ended."""

    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED_EARLY = "stopped-early"
    """No new best for too long."""
    REACHED = "reached"
    """The metric is as good as was asked for."""
    OUT_OF_TIME = "out-of-time"
    """The machine became slower than it was when the steps were fixed."""


@dataclass(kw_only=True)
class Tally:
    """What happened since the last line of the log."""

    __pydantic_config__ = RECORD

    loss_sum: float = 0.0
    count: int = 0
    n_correct: int = 0
    n_tokens: int = 0
    flops: float = 0.0
    seconds: float = 0.0
    gradient_norm: float = 0.0


@dataclass(kw_only=True)
class TrainState:
    """Where a run is.

    Attributes:
        step: Steps made.
        epoch: Where the data goes on: the pass,
        batch: and the batch in it.
        elapsed: Seconds that the run took so far, over all its processes.
        n_steps: Steps of the whole run; None while a time budget is being measured.
        evaluate_every: Steps between evaluations; None while that is not known.
        reserve: Seconds that the end of the run will take.
        best_step: The step of the best evaluation.
        best: Its numbers.
        n_worse: Evaluations since.
        evaluated: The steps of the last evaluations.
        status: Whether it goes on.
        tally: What happened since the last line of the log.
    """

    __pydantic_config__ = RECORD

    step: int = 0
    epoch: int = 0
    batch: int = 0
    elapsed: float = 0.0
    n_steps: int | None = None
    evaluate_every: int | None = None
    reserve: float = 0.0
    best_step: int | None = None
    best: dict[str, float] = field(default_factory=dict[str, float])
    n_worse: int = 0
    evaluated: list[int] = field(default_factory=list[int])
    status: Status = Status.RUNNING
    tally: Tally = field(default_factory=Tally)
