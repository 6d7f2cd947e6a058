"""A run's way to the disk and back, whichever processes train it: the first writes, all read."""

from torch import Tensor

from clearhead.training.average import MovingAverage
from clearhead.training.checkpoint import Checkpoints, Snapshot
from clearhead.training.distributed.pieces import local
from clearhead.training.metrics import MetricsLog
from clearhead.training.optimiser import optimiser_tensors, set_optimiser_tensors
from clearhead.training.state import TrainState
from clearhead.training.step import Stepper, all_finite, diverged


class Keeper:
    """Saves a run and takes it up again.

    Args:
        stepper: What makes its steps, and holds what they change.
        average: The moving average of the weights, where there is one.
        checkpoints: Where checkpoints are.
        log: Where the log is.
    """

    def __init__(
        self, *, stepper: Stepper, average: MovingAverage | None, checkpoints: Checkpoints, log: MetricsLog
    ) -> None:
        self._stepper = stepper
        self._average = average
        self._checkpoints = checkpoints
        self._log = log
        self._world = stepper.world
        self._saved: int | None = None

    def restore(self) -> TrainState | None:
        """Takes up the newest checkpoint that is whole; gives where the run is, or None if it is not begun."""
        found: list[Snapshot] = []

        def look() -> int | None:
            newest = self._checkpoints.newest()
            self._log.cut(0 if newest is None else newest.state.step)
            found.extend(() if newest is None else (newest,))
            return None if newest is None else newest.state.step

        step = self._world.on_first(look)
        if step is None:
            return None
        snapshot = found[0] if found else self._checkpoints.load(step)
        self._stepper.placed.set_weights(snapshot.model)
        set_optimiser_tensors(self._stepper.optimiser, self._stepper.network, snapshot.optimiser)
        if self._average is not None:
            self._average.set_tensors(snapshot.average)
        self._saved = step
        return snapshot.state

    def save(self, state: TrainState, *, keep: set[int], keep_last: int) -> bool:
        """Writes a checkpoint, unless there is one of this step, and removes those that are no longer needed.

        Args:
            state: Where the run is.
            keep: Steps whose checkpoints must stay.
            keep_last: How many of the last stay too.

        Returns:
            Whether one was written.

        Raises:
            TrainingError: Weights that are not finite, or a disk that would not take them.
        """
        if self._saved == state.step:
            return False
        placed, settings = self._stepper.placed, self._stepper.settings
        here: list[Tensor] = [local(parameter) for parameter in self._stepper.network.parameters()]
        (is_astray,) = self._world.largest(int(not all_finite(here)))
        if is_astray:
            raise diverged(state.step, "weights that are not finite", settings.lr)
        snapshot = Snapshot(
            model=placed.gathered(placed.weights()),
            optimiser=placed.gathered(optimiser_tensors(self._stepper.optimiser, self._stepper.network)),
            average=placed.gathered(self._average.tensors) if self._average is not None else {},
            state=state,
        )

        def write() -> None:
            self._log.sync()
            self._checkpoints.save(snapshot)
            self._checkpoints.prune(keep_last=keep_last, keep=keep)

        self._world.on_first(write)
        self._saved = state.step
        return True
