import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from clearhead.config import architecture
from clearhead.data import TokenStore
from clearhead.errors import TrainingError
from clearhead.models import Network, build
from clearhead.training import Progress, Status, TranslateObjective, read_metrics
from clearhead.training.clock import Clock
from clearhead.training.settings import AverageKind, AverageSettings, BatchSettings, DropoutSettings
from clearhead.training.step import Stepper
from clearhead.training.world import World

from .specimen import PAD, SETTINGS, SIZE, VOCAB_SIZE, changed, feed, trainer

AVERAGES = [
    AverageSettings(kind=AverageKind.NONE),
    AverageSettings(kind=AverageKind.EMA),
    AverageSettings(kind=AverageKind.LAST, last=3),
]


class Stopping(Progress):
    """Asks the run to stop after a step, as Ctrl-C would."""

    def __init__(self, *, at: int, by: int = signal.SIGINT) -> None:
        self.at, self.by, self.said = at, by, list[str]()

    def say(self, text: str) -> None:
        self.said.append(text)

    def update(self, report: Any) -> None:
        if report.step == self.at:
            os.kill(os.getpid(), self.by)


def weights(network: Network[Any]) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in network.named_parameters()}


def equal(ours: Mapping[str, torch.Tensor], theirs: Mapping[str, torch.Tensor]) -> bool:
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def lines(folder: Path) -> list[dict[str, Any]]:
    found = list(read_metrics(folder / "metrics.jsonl"))
    return [{k: v for k, v in line.items() if k not in ("seconds", "tokens_per_second")} for line in found]


@pytest.mark.parametrize(
    ("average", "n_threads"),
    [*((average, 1) for average in AVERAGES), pytest.param(AVERAGES[1], 2, marks=pytest.mark.long)],
    ids=["none", "ema", "last", "two threads"],
)
def test_a_run_in_parts_ends_as_one_in_a_piece(
    tmp_path: Path, store: TokenStore, average: AverageSettings, n_threads: int
) -> None:
    settings = changed(average=average)
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        with trainer(tmp_path / "whole", store, settings) as whole:
            assert whole.run().status is Status.COMPLETED
        for stop in (3, 10, 13):
            with trainer(tmp_path / "parts", store, settings, progress=Stopping(at=stop)) as parts:
                outcome = parts.run()
            assert (outcome.status, outcome.step, outcome.exit_code) == (Status.RUNNING, stop, 130)
            assert "goes on" in str(outcome)
            torch.set_num_threads(1)  # the run remembers how many it had
        with trainer(tmp_path / "parts", store, settings) as parts:
            assert str(parts.run()) == "finished after 20 steps"
    finally:
        torch.set_num_threads(before)
    assert equal(weights(whole.network), weights(parts.network))
    assert lines(tmp_path / "whole") == lines(tmp_path / "parts")


def test_a_finished_run_is_only_read(tmp_path: Path, store: TokenStore) -> None:
    with trainer(tmp_path, store) as first:
        outcome = first.run()
    with trainer(tmp_path, store) as again:
        repeated = again.run()
    assert (repeated.step, repeated.metrics, repeated.best_step) == (20, outcome.metrics, outcome.best_step)
    assert equal(weights(first.network), weights(again.network))


def test_training_lowers_the_loss(tmp_path: Path, store: TokenStore) -> None:
    settings = changed(steps=60, lr=0.02, dropout=DropoutSettings(residual=0.0), average=AVERAGES[0])
    with trainer(tmp_path, store, settings) as run:
        run.run()
    losses = [line["evaluation"]["loss"] for line in lines(tmp_path) if "evaluation" in line]
    assert losses[-1] < 0.8 * losses[0]


def test_accumulated_batches_are_one_large_batch(store: TokenStore) -> None:
    settings = changed(dropout=DropoutSettings(residual=0.0))

    def stepped(n_parts: int) -> tuple[dict[str, torch.Tensor], Any]:
        network = build(architecture("original", size=replace(SIZE, dropout=0.0), vocab_size=VOCAB_SIZE), seed=1)
        stepper = Stepper(
            network=network, objective=TranslateObjective(decoder_start=PAD), settings=settings, world=World()
        )
        whole = next(feed(store, changed(batch=BatchSettings(max_tokens=400))).once())
        cuts = torch.arange(len(whole["source"])).tensor_split(n_parts)
        parts = [{name: tensor[rows] for name, tensor in whole.items()} for rows in cuts]
        result = stepper.step(1, parts, n_steps=1)
        return {name: p.grad for name, p in network.named_parameters() if p.grad is not None}, result

    (one, first), (several, second) = stepped(1), stepped(3)
    assert first.count == second.count
    assert first.loss_sum == pytest.approx(second.loss_sum, rel=1e-5)
    torch.testing.assert_close(several, one, rtol=1e-3, atol=1e-5)


def test_evaluation_does_not_disturb_the_training(tmp_path: Path, store: TokenStore) -> None:
    def noisy(network: Network[Any]) -> dict[str, float]:
        torch.manual_seed(int(torch.randint(1000, ())))
        torch.rand(17)
        return {"loss": float(next(network.parameters()).detach().abs().sum())}

    plain = changed(average=AVERAGES[0])
    with trainer(tmp_path / "a", store, plain, evaluate=noisy) as first:
        first.run()
    with trainer(tmp_path / "b", store, plain) as second:
        second.run()
    last = [each.checkpoints.load(20).model for each in (first, second)]
    assert equal(last[0], last[1])


def test_a_diverging_run_stops_with_its_last_good_checkpoint(tmp_path: Path, store: TokenStore) -> None:
    with (
        trainer(
            tmp_path, store, changed(lr=1e9, steps=200, schedule=replace(SETTINGS.schedule, warmup_steps=0))
        ) as run,
        pytest.raises(TrainingError, match="diverged") as caught,
    ):
        run.run()
    assert "learning rate" in str(caught.value.advice)
    kept = run.checkpoints.newest()
    assert kept is not None
    assert all(bool(torch.isfinite(tensor).all()) for tensor in kept.model.values())


def test_the_best_weights_are_kept_and_patience_ends(tmp_path: Path, store: TokenStore) -> None:
    values = iter([3.0, 1.0, 2.0, 2.5, 0.0])
    seen: list[dict[str, torch.Tensor]] = []

    def evaluate(network: Network[Any]) -> dict[str, float]:
        seen.append(weights(network))
        return {"loss": next(values)}

    settings = changed(steps=100, patience=2, keep_last=1)
    with trainer(tmp_path, store, settings, evaluate=evaluate) as run:
        outcome = run.run()
    assert (outcome.status, outcome.step, outcome.best_step) == (Status.STOPPED_EARLY, 20, 10)
    assert outcome.metrics == {"loss": 1.0}
    assert equal(weights(run.network), seen[1])
    assert run.checkpoints.steps() == [10, 20]
    assert not run.network.training


def test_more_can_be_better(tmp_path: Path, store: TokenStore) -> None:
    values = iter([1.0, 3.0, 2.0, 0.0])
    settings = changed(metric="bleu", maximise=True)
    with trainer(tmp_path, store, settings, evaluate=lambda _: {"bleu": next(values)}) as run:
        assert run.run().best_step == 10


def test_a_metric_that_nobody_gives_is_refused(tmp_path: Path, store: TokenStore) -> None:
    with (
        trainer(tmp_path, store, changed(metric="los")) as run,
        pytest.raises(TrainingError, match="did you mean loss"),
    ):
        run.run()


def test_the_mean_of_the_last_is_kept_where_it_is_better(tmp_path: Path, store: TokenStore) -> None:
    seen: list[dict[str, torch.Tensor]] = []

    def evaluate(network: Network[Any]) -> dict[str, float]:
        seen.append(weights(network))
        return {"loss": 10.0 - len(seen)}

    with trainer(tmp_path, store, changed(average=AVERAGES[2]), evaluate=evaluate) as run:
        outcome = run.run()
    assert outcome.best_step is None and outcome.metrics == {"loss": 5.0}
    for name, tensor in weights(run.network).items():
        torch.testing.assert_close(tensor, torch.stack([each[name] for each in seen[1:4]]).mean(0))


class Ticking:
    """A clock that goes on by a quarter of a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 0.25
        return self.seconds


BUDGET = 60.0
TIMED = changed(steps=None, time_budget=BUDGET, evaluate_every=None)


def test_time_fixes_the_steps_and_ends_the_run(tmp_path: Path, store: TokenStore) -> None:
    ticking, progress = Ticking(), Stopping(at=10**9)
    with trainer(tmp_path, store, TIMED, progress=progress, clock=Clock(now=ticking)) as run:
        outcome = run.run()
    assert run.state.n_steps is not None
    # A step looks at this clock more often than it is measured by, so that the time is over before the steps.
    assert outcome.status is Status.OUT_OF_TIME
    assert 0.8 * BUDGET < outcome.elapsed < BUDGET + 1.0
    assert 8 < outcome.step < run.state.n_steps
    assert any("fit into the time" in text for text in progress.said)


def test_what_was_done_before_the_first_step_counts(tmp_path: Path, store: TokenStore) -> None:
    clock = Clock(now=Ticking())
    clock.add(0.5 * BUDGET)
    with trainer(tmp_path / "late", store, TIMED, clock=clock) as late:
        outcome = late.run()
    with trainer(tmp_path / "soon", store, TIMED, clock=Clock(now=Ticking())) as soon:
        assert soon.run().step > outcome.step
    assert 0.8 * BUDGET < outcome.elapsed < BUDGET + 1.0


def test_what_is_left_is_told_by_the_pace_of_the_steps_alone(tmp_path: Path, store: TokenStore) -> None:
    class Listening(Progress):
        left: list[float]

        def update(self, report: Any) -> None:
            if report.seconds_left is not None:
                self.left.append(report.seconds_left)

    found: list[list[float]] = []
    for name, before in (("soon", 0.0), ("late", 1000.0)):
        progress, clock = Listening(), Clock(now=Ticking())
        progress.left = []
        clock.add(before)
        with trainer(tmp_path / name, store, clock=clock, progress=progress) as run:
            run.run()
        found.append(progress.left)
    assert found[0] == pytest.approx(found[1])
    assert found[0][0] > found[0][-1] > 0


def test_a_budget_too_short_to_measure_ends_with_what_there_is(tmp_path: Path, store: TokenStore) -> None:
    with trainer(tmp_path, store, changed(steps=None, time_budget=3.0), clock=Clock(now=Ticking())) as run:
        outcome = run.run()
    assert (outcome.status, run.state.n_steps) == (Status.OUT_OF_TIME, None)
    assert 1 <= outcome.step < 8
    assert outcome.metrics["loss"] > 0


class StoppingWhileMeasured(Stopping):
    """Asks the run to stop in the very evaluation that its length is planned by."""

    def evaluated(self, *_: Any, **__: Any) -> None:
        if not any("fit into" in text for text in self.said):
            os.kill(os.getpid(), signal.SIGTERM)


def test_time_counts_across_processes_and_the_steps_stay_fixed(tmp_path: Path, store: TokenStore) -> None:
    progress = StoppingWhileMeasured(at=0)
    with trainer(tmp_path, store, TIMED, progress=progress, clock=Clock(now=Ticking())) as first:
        outcome = first.run()
    assert (outcome.status, outcome.exit_code) == (Status.RUNNING, 128 + signal.SIGTERM)
    assert any("once more stops at once" in text for text in progress.said)
    planned = first.state.n_steps
    assert planned is not None
    ticking = Ticking()
    with trainer(tmp_path, store, TIMED, clock=Clock(now=ticking)) as second:
        end = second.run()
    assert second.state.n_steps == planned
    assert ticking.seconds < BUDGET - 0.5 * outcome.elapsed
    assert outcome.elapsed < end.elapsed < BUDGET + 1.0


def test_a_damaged_newest_checkpoint_is_said_and_made_again(tmp_path: Path, store: TokenStore) -> None:
    with trainer(tmp_path / "whole", store) as whole:
        whole.run()
    with trainer(tmp_path / "run", store, progress=Stopping(at=13)) as first:
        first.run()
    (tmp_path / "run/checkpoints/step-00000013/model.safetensors").write_bytes(b"gone")
    progress = Stopping(at=10**9)
    with trainer(tmp_path / "run", store, progress=progress) as second:
        second.run()
    assert "step 13 is damaged" in progress.said[0]
    assert progress.said[1] == "going on from step 10"
    assert equal(weights(whole.network), weights(second.network))
    assert lines(tmp_path / "whole") == lines(tmp_path / "run")


FULL_DISK = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import specimen
from clearhead.errors import TrainingError
from clearhead.training import Progress
folder = Path(sys.argv[2])
store = specimen.write_store(folder / "store")
class Filling(Progress):
    def update(self, report):
        if report.step == 7:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
        if report.step == 12:
            raise SystemExit("went on without a disk")
with specimen.trainer(folder / "run", store, progress=Filling()) as run:
    try:
        run.run()
    except TrainingError as error:
        print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no way to make a disk full")
def test_a_full_disk_leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    here = Path(__file__).parent
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(here), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "step 10 cannot be written" in result.stdout
    assert "goes on from step 5" in result.stdout
    store = TokenStore(folder=tmp_path / "store")
    assert [path.name for path in (tmp_path / "run/checkpoints").iterdir() if path.name.startswith(".")] == []
    with trainer(tmp_path / "run", store) as resumed, trainer(tmp_path / "whole", store) as whole:
        torch.set_num_threads(resumed.folder.n_threads)
        resumed.run()
        whole.run()
    assert equal(weights(resumed.network), weights(whole.network))
