"""The loop: steps, evaluations, checkpoints, and the end, on time and never lost."""

from collections.abc import Iterator, Mapping
from typing import Any

from clearhead.data import Cursor
from clearhead.models import Network
from clearhead.training.average import MovingAverage
from clearhead.training.checkpoint import Checkpoints, Snapshot
from clearhead.training.clock import Clock, Pace, default_evaluate_every, is_measured, mean_step, plan_steps
from clearhead.training.dropout import set_dropout
from clearhead.training.evaluate import Evaluate
from clearhead.training.feed import Feed
from clearhead.training.flops import matmul_peak
from clearhead.training.interrupt import Interrupt
from clearhead.training.judge import Judge
from clearhead.training.metrics import MetricsLog
from clearhead.training.objective import Batch, Objective
from clearhead.training.optimiser import optimiser_tensors, set_optimiser_tensors
from clearhead.training.outcome import Outcome
from clearhead.training.progress import Progress, StepReport
from clearhead.training.run import RunFolder, threads
from clearhead.training.settings import AverageKind, TrainSettings
from clearhead.training.state import Status, Tally, TrainState
from clearhead.training.step import Stepper, StepResult, all_finite, diverged
from clearhead.training.world import World


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
        self.network = network
        self.settings = settings
        self.folder = run
        self.progress = progress or Progress()
        self.world = world or World()
        self.state = TrainState()
        self.checkpoints = Checkpoints(folder=run.checkpoints, say=self.progress.say)
        self.log = MetricsLog(path=run.metrics)
        self._feed = feed
        set_dropout(network, settings.dropout)
        self._stepper = Stepper(network=network, objective=objective, settings=settings, world=self.world)
        is_moving = settings.average.kind is AverageKind.EMA
        self._average = MovingAverage(network=network, decay=settings.average.decay) if is_moving else None
        self._judge = Judge(network=network, evaluate=evaluate, settings=settings, progress=self.progress)
        self._clock = Clock()
        self._saved: int | None = None
        self._save_at = 0.0
        self._rate = 0.0
        self._seconds: list[float] = []

    def run(self) -> Outcome:
        """Goes on with the run to its end, and leaves the network with the weights that are best.

        Raises:
            TrainingError: The training diverged, or the disk would not take a checkpoint.
        """
        with threads(self.folder.n_threads), Interrupt() as interrupt:
            try:
                self._restore()
                stream = self._feed.follow(Cursor(epoch=self.state.epoch, batch=self.state.batch))
                while self.state.status is Status.RUNNING and interrupt.signal is None:
                    self._advance(stream)
                if self.state.status is Status.RUNNING:
                    self._save()
                    return self._outcome(interrupted_by=interrupt.signal)
                return self._finish()
            finally:
                self.progress.close()

    def _restore(self) -> None:
        """Takes up the newest checkpoint, or makes the first: a disk that takes none is found out now."""
        snapshot = self.checkpoints.newest()
        if snapshot is None:
            n_steps, every = self.settings.steps, self.settings.evaluate_every
            if n_steps is not None and every is None:
                every = default_evaluate_every(n_steps)
            self.state = TrainState(n_steps=n_steps, evaluate_every=every)
            self.log.cut(0)
            self._clock = Clock()
            self._save()
            return
        self.state = snapshot.state
        self.network.set_parameters(snapshot.model)
        set_optimiser_tensors(self._stepper.optimiser, self.network, snapshot.optimiser)
        if self._average is not None:
            self._average.set_tensors(snapshot.average)
        self.log.cut(self.state.step)
        self._clock = Clock(elapsed=self.state.elapsed)
        self._saved, self._save_at = self.state.step, self.state.elapsed + self.settings.save_every
        if self.state.step and self.state.status is Status.RUNNING:
            self.progress.say(f"going on from step {self.state.step}")

    def _advance(self, stream: Iterator[tuple[Cursor, Batch]]) -> None:
        """One step, and whatever is due after it."""
        start = self._clock.elapsed
        self._step(stream)
        self._seconds.append(self._clock.elapsed - start)
        self.state.tally.seconds += self._seconds[-1]
        self._report()
        if self.state.n_steps is None:
            self._measure()
            return
        out_of_time = self._is_out_of_time()
        is_last = self.state.step >= self.state.n_steps or out_of_time
        if is_last or self.state.step % (self.state.evaluate_every or self.state.n_steps) == 0:
            self._evaluate()
            self.state.status = self._verdict(out_of_time=out_of_time)
            self._save()
        elif self._clock.elapsed >= self._save_at:
            self._save()

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
        _count(state.tally, result)
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
                peak_share=tally.flops / max(tally.seconds, 1e-9) / matmul_peak() if self.progress.wants_peak else None,
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

    def _seconds_left(self) -> float | None:
        if self.state.n_steps is None or not self._seconds:
            return None
        per_step = self._clock.elapsed / self.state.step
        return (self.state.n_steps - self.state.step) * per_step + self.state.reserve

    def _measure(self) -> None:
        """Once the pace is known, fixes how many steps fit into the time.

        The next checkpoint holds the plan; what happened since the one before would be measured anew.
        """
        budget = self.settings.time_budget
        assert budget is not None
        if not is_measured(self._seconds, budget=budget):
            return
        times = [self._clock.elapsed]
        for work in (self._save, self._evaluate):
            work()
            times.append(self._clock.elapsed)
        pace = Pace(step=mean_step(self._seconds), saving=times[1] - times[0], evaluation=times[2] - times[1])
        plan = plan_steps(
            done=self.state.step,
            left=budget - self._clock.elapsed,
            pace=pace,
            save_every=self.settings.save_every,
            evaluate_every=self.settings.evaluate_every,
        )
        self.state.n_steps, self.state.evaluate_every = plan.n_steps, plan.evaluate_every
        self.state.reserve = plan.reserve
        self._save_at = 0.0  # the next checkpoint holds the plan
        self.progress.say(f"{plan.n_steps} steps fit into the time, at {pace.step:.3g} s a step")

    def _is_out_of_time(self) -> bool:
        budget = self.settings.time_budget
        return budget is not None and self._clock.elapsed + self.state.reserve >= budget

    def _evaluate(self) -> None:
        """Evaluates the weights that would be kept, and notes whether they are the best so far."""
        weights = None if self._average is None else self._average.tensors
        line = self._judge.evaluate(self.state, weights)
        if line and self.world.is_first:
            self.log.append(line)

    def _verdict(self, *, out_of_time: bool) -> Status:
        assert self.state.n_steps is not None
        if self._judge.has_reached(self.state):
            return Status.REACHED
        if self.state.step >= self.state.n_steps:
            return Status.COMPLETED
        if out_of_time:
            return Status.OUT_OF_TIME
        patience = self.settings.patience
        return Status.STOPPED_EARLY if patience is not None and self.state.n_worse >= patience else Status.RUNNING

    def _save(self) -> None:
        """Writes a checkpoint, unless there is one of this step, and removes those that are no longer needed."""
        if not self.world.is_first or self._saved == self.state.step:
            return
        if not all_finite(list(self.network.parameters())):
            raise diverged(self.state.step, "weights that are not finite", self.settings.lr)
        self.state.elapsed = self._clock.elapsed
        self.log.sync()
        self.checkpoints.save(
            Snapshot(
                model={name: parameter.detach() for name, parameter in self.network.named_parameters()},
                optimiser=optimiser_tensors(self._stepper.optimiser, self.network),
                average=self._average.tensors if self._average is not None else {},
                state=self.state,
            )
        )
        self._saved = self.state.step
        self._save_at = self._clock.elapsed + self.settings.save_every
        self.checkpoints.prune(keep_last=self.settings.keep_last, keep=self._judge.needed(self.state))

    def _finish(self) -> Outcome:
        """Gives the network the weights that are best."""
        own = {name: parameter.detach() for name, parameter in self.network.named_parameters()}
        last = own if self._average is None else self._average.tensors
        weights, best_step, metrics = self._judge.choose(self.state, last, self.checkpoints)
        self.network.set_parameters(weights)
        self.network.eval()
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


def _count(tally: Tally, result: StepResult) -> None:
    tally.loss_sum += result.loss_sum
    tally.count += result.count
    tally.n_correct += result.n_correct
    tally.n_tokens += result.n_tokens
    tally.flops += result.flops
    tally.gradient_norm = max(tally.gradient_norm, result.gradient_norm)
