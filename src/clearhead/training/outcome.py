"""How a run ended."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clearhead.training.progress import spell_seconds
from clearhead.training.state import Status


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended.

    Attributes:
        status: Why; RUNNING where it was interrupted and can go on.
        step: Steps made.
        elapsed: Seconds that it took, over all its processes.
        folder: Where it is.
        best_step: The step of the weights that the network has now; None where they are of several or the last.
        metrics: The numbers of their evaluation, as far as they are known.
        interrupted_by: The signal that interrupted it.
    """

    status: Status
    step: int
    elapsed: float
    folder: Path
    best_step: int | None = None
    metrics: Mapping[str, float]
    interrupted_by: int | None = None

    @property
    def exit_code(self) -> int:
        """What a command should exit with: 0, or what a shell makes of the signal."""
        return 0 if self.interrupted_by is None else 128 + self.interrupted_by

    def __str__(self) -> str:
        match self.status:
            case Status.RUNNING:
                name = signal.Signals(self.interrupted_by or signal.SIGINT).name
                return f"stopped at step {self.step} ({name}); the same command goes on from there"
            case Status.COMPLETED:
                return f"finished after {self.step} steps"
            case Status.REACHED:
                return f"as good as was asked for, after {self.step} steps and {spell_seconds(self.elapsed)}"
            case Status.STOPPED_EARLY:
                since = "for a while" if self.best_step is None else f"since step {self.best_step}"
                return f"stopped early at step {self.step}: no better evaluation {since}"
            case Status.OUT_OF_TIME:
                return f"the time was over at step {self.step}, before all that was planned or could be planned"
