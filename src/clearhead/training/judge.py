"""Which weights are the best so far, and which are kept in the end."""

import math
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from clearhead.errors import TrainingError, nearest
from clearhead.models import Network
from clearhead.training.average import mean_of, wearing
from clearhead.training.checkpoint import Checkpoints
from clearhead.training.evaluate import Evaluate
from clearhead.training.progress import Progress
from clearhead.training.settings import AverageKind, TrainSettings
from clearhead.training.state import Status, TrainState
from clearhead.training.step import diverged


class Judge:
    """Evaluates weights and remembers, in the state of the run, which were the best.

    Args:
        network: What wears them meanwhile.
        evaluate: Gives the numbers; None where there is nothing to go by, and the last weights are kept.
        settings: Which number decides.
        progress: Told of every evaluation.
    """

    def __init__(
        self, *, network: Network[Any], evaluate: Evaluate | None, settings: TrainSettings, progress: Progress
    ) -> None:
        self._network = network
        self._evaluate = evaluate
        self._settings = settings
        self._progress = progress

    def evaluate(self, state: TrainState, weights: Mapping[str, Tensor] | None) -> dict[str, Any] | None:
        """Evaluates weights, or the network's own; gives a line for the log, if there is something to say."""
        state.evaluated = [*state.evaluated, state.step][-self._settings.average.last :]
        if self._evaluate is None:
            return None
        metrics = self._numbers(weights, state.step)
        is_best = self._is_better(metrics, state.best)
        if is_best:
            state.best_step, state.best, state.n_worse = state.step, metrics, 0
        else:
            state.n_worse += 1
        self._progress.evaluated(state.step, metrics, best=is_best)
        return {"step": state.step, "evaluation": metrics, "best": is_best}

    def verdict(self, state: TrainState, *, out_of_time: bool) -> Status:
        """Whether a run goes on after an evaluation."""
        if self._has_reached(state):
            return Status.REACHED
        if state.n_steps is not None and state.step >= state.n_steps:
            return Status.COMPLETED
        if out_of_time:
            return Status.OUT_OF_TIME
        patience = self._settings.patience
        return Status.STOPPED_EARLY if patience is not None and state.n_worse >= patience else Status.RUNNING

    def _has_reached(self, state: TrainState) -> bool:
        """Whether the best so far is as good as the settings ask for."""
        wanted, best = self._settings.stop_at, state.best.get(self._settings.metric)
        if wanted is None or best is None:
            return False
        return best >= wanted if self._settings.maximise else best <= wanted

    def needed(self, state: TrainState) -> set[int]:
        """The steps whose checkpoints must stay."""
        best = set[int]() if state.best_step is None else {state.best_step}
        return best | set(state.evaluated) if self._settings.average.kind is AverageKind.LAST else best

    def choose(
        self, state: TrainState, last: Mapping[str, Tensor], checkpoints: Checkpoints
    ) -> tuple[Mapping[str, Tensor], int | None, Mapping[str, float]]:
        """The weights to keep, the step that they are of if it is one, and their numbers.

        Args:
            state: Where the run is.
            last: The weights at its end.
            checkpoints: Where those of earlier steps are.
        """
        best = None if state.best_step is None else checkpoints.weights(state.best_step)
        chosen: tuple[Mapping[str, Tensor], int | None, Mapping[str, float]] = (last, None, {})
        if best is not None:
            chosen = best, state.best_step, state.best
        if self._settings.average.kind is not AverageKind.LAST:
            return chosen
        several = [weights for weights in map(checkpoints.weights, state.evaluated) if weights is not None]
        if not several:
            return chosen
        mean = mean_of(several)
        metrics = {} if self._evaluate is None else self._numbers(mean, state.step)
        return (mean, None, metrics) if not metrics or self._is_better(metrics, state.best) else chosen

    def _numbers(self, weights: Mapping[str, Tensor] | None, step: int) -> dict[str, float]:
        assert self._evaluate is not None
        self._network.eval()
        with wearing(self._network, weights):
            metrics = dict(self._evaluate(self._network))
        name = self._settings.metric
        if name not in metrics:
            raise TrainingError(
                "a metric that the evaluation does not give",
                got=name,
                expected=", ".join(metrics),
                advice=nearest(name, metrics),
            )
        if not all(map(math.isfinite, metrics.values())):
            raise diverged(step, f"an evaluation of {metrics}", self._settings.lr)
        return metrics

    def _is_better(self, metrics: Mapping[str, float], than: Mapping[str, float]) -> bool:
        if not than:
            return True
        name = self._settings.metric
        return metrics[name] > than[name] if self._settings.maximise else metrics[name] < than[name]
