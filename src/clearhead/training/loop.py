"""The loop: steps, evaluations, checkpoints, and the end, on time and never lost."""

from collections.abc import Iterator, Mapping
from typing import Any

from clearhead.config import from_dict, to_dict
from clearhead.data import Cursor
from clearhead.models import Network
from clearhead.training.average import MovingAverage
from clearhead.training.checkpoint import Checkpoints
from clearhead.training.clock import Pace, default_evaluate_every, is_measured, mean_step, plan_steps, reserve_for
from clearhead.training.evaluate import Evaluate
from clearhead.training.feed import Feed
from clearhead.training.flops import matmul_peak
from clearhead.training.interrupt import Interrupt
from clearhead.training.judge import Judge
from clearhead.training.keeper import Keeper
from clearhead.training.metrics import MetricsLog
from clearhead.training.objective import Batch, Objective
from clearhead.training.outcome import Outcome
from clearhead.training.progress import Progress, StepReport
from clearhead.training.run import RunFolder, threads
from clearhead.training.settings import AverageKind, TrainSettings
from clearhead.training.state import Status, Tally, TrainState
from clearhead.training.step import Stepper
from clearhead.training.world import World

_FIRST_IS_SMALLER = 3


class Trainer:
    """Trains a network in a run's folder, from wherever the run is.

    Args:
        network: What learns: new, or loaded from any checkpoint.
        objective: What is asked of it.
        feed: The batches.
        settings: How.
        run: The folder.
        evaluate: Gives the numbers by which the best weights are chosen; None to keep the last.
        progress: Told how it goes.
        world: Which process this is.
    """

    def __init__(
        self,
        *,
        network: Network[Any],
        objective: Objective,
        feed: Feed,
        settings: TrainSettings,
        run: RunFolder,
        evaluate: Evaluate | None = None,
        progress: Progress | None = None,
        world: World | None = None,
    ) -> None:
        self.settings = settings
        self.folder = run
        self.progress = progress or Progress()
        self.world = world or World()
        self.state = TrainState()
        self.checkpoints = Checkpoints(folder=run.checkpoints, say=self.progress.say)
        self.log = MetricsLog(path=run.metrics)
        self._feed = feed
        self._stepper = Stepper(network=network, objective=objective, settings=settings, world=self.world)
        is_moving = settings.average.kind is AverageKind.EMA
        self._average = MovingAverage(network=network, decay=settings.average.decay) if is_moving else None
        self._keeper = Keeper(stepper=self._stepper, average=self._average, checkpoints=self.checkpoints, log=self.log)
        self._judge = Judge(network=self.network, evaluate=evaluate, settings=settings, progress=self.progress)
        self._clock = run.clock
        self._interrupt = Interrupt(say=self.progress.say)
        self._heard = 0
        self._saving = 0.0
        self._save_at = 0.0
        self._rate = 0.0
        self._seconds: list[float] = []
        self._begun = 0, 0.0

    @property
    def network(self) -> Network[Any]:
        """The whole network; in the end, in the first process, with the weights that are best."""
        return self._stepper.placed.whole

    def run(self) -> Outcome:
        """Goes on with the run to its end, and leaves the network with the weights that are best.

        Raises:
            TrainingError: The training diverged, or the disk would not take a checkpoint.
        """
        with threads(self.folder.n_threads), self._interrupt:
            try:
                self._restore()
                self._begun = self.state.step, self._clock.elapsed
                stream = self._feed.follow(Cursor(epoch=self.state.epoch, batch=self.state.batch))
                while self.state.status is Status.RUNNING and not self._signal():
                    self._advance(stream)
                if self.state.status is Status.RUNNING:
                    self._save()
                    return self._outcome(interrupted_by=self._signal())
                return self._finish()
            finally:
                self.progress.close()

    def _signal(self) -> int | None:
        """The signal that asks to stop: now, or where there are several processes, as they last agreed."""
        return self._interrupt.signal if self.world.is_alone else self._heard or None

    def _meet(self) -> float:
        """Agrees with the other processes, if there are any, on the time and on signals; gives the time."""
        self._heard = self._clock.meet(self._interrupt.signal or 0)
        return self._clock.elapsed

    def _restore(self) -> None:
        """Takes up the newest checkpoint, or makes the first: a disk that takes none is found out now."""
        found = self._keeper.restore()
        self._meet()
        if found is None:
            n_steps, every = self.settings.steps, self.settings.evaluate_every
            if n_steps is not None and every is None:
                every = default_evaluate_every(n_steps)
            self.state = TrainState(n_steps=n_steps, evaluate_every=every)
            self._save()
            return
        self.state = found
        self._clock.add(self.state.elapsed)
        self._save_at = self._meet() + self.settings.save_every
        if self.state.step and self.state.status is Status.RUNNING:
            self.progress.say(f"going on from step {self.state.step}")

    def _advance(self, stream: Iterator[tuple[Cursor, Batch]]) -> None:
        """One step, and whatever is due after it."""
        start = self._clock.elapsed
        self._step(stream)
        self._seconds.append(self._meet() - start)
        self.state.tally.seconds += self._seconds[-1]
        self._report()
        if self.state.n_steps is None and self._plan():
            return
        out_of_time = self._is_out_of_time()
        if out_of_time or self._is_due():
            self._evaluate()
            self.state.status = self._judge.verdict(self.state, out_of_time=out_of_time)
            self._save()
        elif self._clock.elapsed >= self._save_at:
            self._save()

    def _is_due(self) -> bool:
        """Whether an evaluation is due; none is while the steps are not fixed yet."""
        state = self.state
        if state.n_steps is None:
            return False
        return state.step >= state.n_steps or state.step % (state.evaluate_every or state.n_steps) == 0

    def _step(self, stream: Iterator[tuple[Cursor, Batch]]) -> None:
        state = self.state
        batches: list[Batch] = []
        cursor = Cursor(epoch=state.epoch, batch=state.batch)
        for _ in range(self.settings.batch.accumulate):
            cursor, batch = next(stream)
            batches.append(batch)
        result = self._stepper.step(state.step + 1, batches, n_steps=state.n_steps)
        state.step += 1
        state.epoch, state.batch = cursor.epoch, cursor.batch
        if self._average is not None:
            self._average.update(state.step)
        result.add_to(state.tally)
        self._rate = result.lr

    def _report(self) -> None:
        """Tells how it goes; writes a line of the log when one is due."""
        state, tally = self.state, self.state.tally
        per_second = tally.n_tokens / max(tally.seconds, 1e-9)
        self.progress.update(
            StepReport(
                step=state.step,
                n_steps=state.n_steps,
                loss=tally.loss_sum / max(1, tally.count),
                tokens_per_second=per_second,
                peak_share=self._peak_share(),
                seconds_left=self._seconds_left(),
            )
        )
        if state.step % self.settings.log_every == 0:
            line: dict[str, Any] = {
                "step": state.step,
                "loss": tally.loss_sum / max(1, tally.count),
                "accuracy": tally.n_correct / max(1, tally.count),
                "lr": self._rate,
                "gradient_norm": tally.gradient_norm,
                "tokens_per_second": round(per_second, 1),
                "seconds": round(self._clock.elapsed, 3),
            }
            if self.world.is_first:
                self.log.append(line)
            state.tally = Tally()

    def _peak_share(self) -> float | None:
        if not self.progress.wants_peak or self.world.device != "cpu":
            return None
        tally = self.state.tally
        return tally.flops / max(tally.seconds, 1e-9) / (matmul_peak() * self.world.n_ranks)

    def _seconds_left(self) -> float | None:
        if self.state.n_steps is None or not self._seconds:
            return None
        step, elapsed = self._begun
        per_step = (self._clock.elapsed - elapsed) / (self.state.step - step)
        return (self.state.n_steps - self.state.step) * per_step + self.state.reserve

    def _plan(self) -> bool:
        """Once the pace is known, fixes how many steps fit into the time, and saves that; whether it did.

        What happened before that checkpoint would be measured anew.
        """
        budget = self.settings.time_budget
        assert budget is not None
        if not is_measured(self._seconds, budget=budget) or self._is_out_of_time():
            return False
        pace = Pace(step=mean_step(self._seconds), evaluation=self._evaluate(), saving=self._saving)
        plan = plan_steps(
            done=self.state.step,
            left=budget - self._clock.elapsed,
            pace=pace,
            save_every=self.settings.save_every,
            evaluate_every=self.settings.evaluate_every,
        )
        self.state.n_steps, self.state.evaluate_every = plan.n_steps, plan.evaluate_every
        self.state.reserve = plan.reserve
        self._save()
        self.progress.say(f"{plan.n_steps} steps fit into the time, at {pace.step:.3g} s a step")
        return True

    def _is_out_of_time(self) -> bool:
        budget = self.settings.time_budget
        return budget is not None and self._clock.elapsed + self.state.reserve >= budget

    def _evaluate(self) -> float:
        """Evaluates the weights that would be kept, notes whether they are the best so far; gives its seconds."""
        start = self._clock.elapsed
        weights = self._stepper.placed.worn(None if self._average is None else self._average.tensors)

        def judge() -> dict[str, Any]:
            line = self._judge.evaluate(self.state, weights)
            if line:
                self.log.append(line)
            return to_dict(self.state)

        told = self.world.on_first(judge)
        if not self.world.is_first:
            self.state = from_dict(TrainState, told)
        taken = self._meet() - start
        # A model that has learned to write takes longer than one that stops at once.
        if self._saving:  # a process that went on with a run has not saved yet, and keeps what the last one knew
            self.state.reserve = reserve_for(evaluation=taken, saving=self._saving)
        return taken

    def _save(self) -> None:
        """Writes a checkpoint, unless there is one of this step, and removes those that are no longer needed."""
        before, start = self.state.elapsed, self._clock.elapsed
        self.state.elapsed = start
        if not self._keeper.save(self.state, keep=self._judge.needed(self.state), keep_last=self.settings.keep_last):
            self.state.elapsed = before
            return
        # The first holds no memory of the optimiser's yet, which is up to twice the weights.
        self._saving = (self._meet() - start) * (1 if self.state.step else _FIRST_IS_SMALLER)
        self._save_at = self._clock.elapsed + self.settings.save_every

    def _finish(self) -> Outcome:
        """Gives the network the weights that are best."""
        placed = self._stepper.placed
        last = placed.gathered(placed.weights() if self._average is None else self._average.tensors)

        def choose() -> tuple[int | None, Mapping[str, float]]:
            weights, best_step, metrics = self._judge.choose(self.state, last, self.checkpoints)
            self.network.set_parameters(weights)
            self.network.eval()
            return best_step, dict(metrics)

        best_step, metrics = self.world.on_first(choose)
        self._meet()
        return self._outcome(best_step=best_step, metrics=metrics)

    def _outcome(
        self,
        *,
        best_step: int | None = None,
        metrics: Mapping[str, float] | None = None,
        interrupted_by: int | None = None,
    ) -> Outcome:
        return Outcome(
            status=self.state.status,
            step=self.state.step,
            elapsed=self._clock.elapsed,
            folder=self.folder.path,
            best_step=best_step,
            metrics=metrics or {},
            interrupted_by=interrupted_by,
        )
