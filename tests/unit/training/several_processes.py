"""Trains in several processes that gloo joins, and prints what came of it; run by test_distributed.py.

Every process is a fork of this one, which has no other threads: ten runs of two processes cost one start.
"""

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import specimen
import torch
import torch.distributed.fsdp
import torch.distributed.tensor
import torch.nn.parallel
from torch import distributed

from clearhead.errors import ClearheadError
from clearhead.training import Progress
from clearhead.training.clock import CommonClock
from clearhead.training.settings import (
    AverageKind,
    AverageSettings,
    BatchSettings,
    DropoutSettings,
    OptimiserKind,
    OptimiserSettings,
    TrainSettings,
)
from clearhead.training.world import World
from clearhead.weights.tensors import read_file

QUIET = DropoutSettings(residual=0.0, hidden=0.0, attention=0.0)
STEADY = replace(specimen.SETTINGS, steps=200, evaluate_every=100, log_every=1, dropout=QUIET)
MUON = replace(STEADY, steps=30, optimiser=OptimiserSettings(kind=OptimiserKind.MUON))
SHORT = replace(STEADY, steps=24, evaluate_every=8)
DROPPING = replace(specimen.SETTINGS, steps=24, evaluate_every=6, save_every=0.001)
SMALL = replace(SHORT, batch=BatchSettings(max_tokens=16))  # often fewer rows than processes
EARLY = replace(SHORT, lr=0.5, patience=1, evaluate_every=2, average=AverageSettings(kind=AverageKind.NONE))
LAST = replace(SHORT, average=AverageSettings(kind=AverageKind.LAST, last=3))


class Acting(Progress):
    """Sends a signal to this process after a step."""

    def __init__(self, *, at: int | None = None, by: int = signal.SIGINT) -> None:
        self.at, self.by = at, by

    def update(self, report: Any) -> None:
        if report.step == self.at:
            os.kill(os.getpid(), self.by)


def train(folder: Path, settings: TrainSettings, world: World, *, progress: Progress) -> dict[str, Any]:
    store = specimen.TokenStore(folder=folder.parent / "store")
    others: dict[str, Any] = {} if world.is_alone else {"clock": CommonClock(world=world)}
    with specimen.trainer(folder, store, settings, world=world, progress=progress, **others) as trainer:
        outcome = trainer.run()
        weights = {name: each.detach().clone() for name, each in trainer.network.named_parameters()}
    if world.is_first:
        torch.save(weights, folder / "weights.pt")
    return {"status": outcome.status, "step": outcome.step, "by": outcome.interrupted_by, "best": outcome.best_step}


def run(
    folder: Path,
    settings: TrainSettings,
    *,
    n_ranks: int = 1,
    shard: bool = False,
    acting: int | None = None,
    at: int | None = None,
    by: int = signal.SIGINT,
) -> list[Any]:
    """Trains in so many forks; what each found, or how it ended. One of them may act upon itself after a step."""
    meeting = folder.with_name(f"{folder.name}.{time.monotonic_ns()}")
    children: list[tuple[int, Path]] = []
    for rank in range(n_ranks):
        answer = folder.with_name(f"{folder.name}.{rank}.json")
        answer.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                world = World(rank=rank, n_ranks=n_ranks, local_rank=rank, shard=shard)
                if n_ranks > 1:
                    distributed.init_process_group(
                        "gloo", init_method=f"file://{meeting}", rank=rank, world_size=n_ranks
                    )
                progress = Acting(at=at, by=by) if rank == acting else Progress()
                answer.write_text(json.dumps(train(folder, settings, world, progress=progress)))
            except (RuntimeError, ClearheadError) as error:
                answer.write_text(json.dumps({"error": str(error)}))
            finally:
                os._exit(0)
        children.append((child, answer))
    for child, _ in children:
        os.waitpid(child, 0)
    return [json.loads(answer.read_text()) if answer.exists() else None for _, answer in children]


def losses(folder: Path) -> list[float]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


def apart(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest relative difference."""
    assert len(first) == len(second) > 0
    return max(abs(one - other) / abs(one) for one, other in zip(first, second, strict=True))


def weights_apart(first: Path, second: Path) -> float:
    """The largest difference. A softmax does not feel the bias of keys: their gradient is rounding, of which AdamW
    makes steps of full length, so that those biases end anywhere."""
    ours, theirs = (torch.load(folder / "weights.pt", weights_only=True) for folder in (first, second))
    felt = [name for name in ours if not name.endswith("key.bias")]
    return max(float((ours[name] - theirs[name]).abs().max()) for name in felt)


def files(folder: Path) -> dict[str, str]:
    newest = max((folder / "checkpoints").glob("step-*"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in newest.glob("*.safetensors")}


def shapes(folder: Path) -> dict[str, list[int]]:
    newest = max((folder / "checkpoints").glob("step-*"))
    found: dict[str, list[int]] = {}
    for path in newest.glob("*.safetensors"):
        found |= {f"{path.name}/{key}": list(tensor.shape) for key, tensor in read_file(path).items()}
    return found


def beside_one(home: Path, cases: Sequence[tuple[str, TrainSettings, int, bool]]) -> dict[str, Any]:
    """Several processes beside one, the same batches: how far losses and weights are apart."""
    found: dict[str, Any] = {}
    for name, settings, n_ranks, shard in cases:
        one, several = home / f"{name}-one", home / f"{name}-{n_ranks}-{'pieces' if shard else 'copies'}"
        if not one.exists():
            run(one, settings)
        run(several, settings, n_ranks=n_ranks, shard=shard)
        found[several.name] = {
            "losses": apart(losses(one), losses(several)),
            "n": len(losses(several)),
            "weights": weights_apart(one, several),
            "shapes": shapes(one) == shapes(several),
        }
    return found


def agreement(home: Path) -> dict[str, Any]:
    """What every test run shows: copies over 200 steps, pieces over fewer."""
    few = replace(STEADY, steps=25, evaluate_every=25)
    cases = [("adamw", STEADY, 2, False), ("few", few, 2, True), ("muon", replace(MUON, steps=6), 2, True)]
    return beside_one(home, [*cases, ("small", SMALL, 3, False)])


def long_agreement(home: Path) -> dict[str, Any]:
    """Every way over all steps."""
    every = {"adamw": STEADY, "muon": MUON, "small": SMALL, "last": LAST}.items()
    cases = [(name, settings, n, shard) for name, settings in every for n in (2, 3) for shard in (False, True)]
    return beside_one(home, cases)


def moving(home: Path) -> dict[str, Any]:
    """Runs that are stopped by a signal to one process, and go on in another number of them."""
    moves = [("2 to 1", {"n_ranks": 2}, {}), ("1 to pieces", {}, {"n_ranks": 2, "shard": True})]
    return moved(home, moves)


def long_moving(home: Path) -> dict[str, Any]:
    """The other ways."""
    two, pieces = {"n_ranks": 2}, {"n_ranks": 2, "shard": True}
    return moved(
        home, [("1 to 2", {}, two), ("pieces to 1", pieces, {}), ("2 to 3 pieces", two, {**pieces, "n_ranks": 3})]
    )


def moved(home: Path, moves: Sequence[tuple[str, dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    whole = home / "whole"
    run(whole, SHORT)
    for name, before, after in moves:
        folder = home / name.replace(" ", "-")
        stopped = run(folder, SHORT, **before, acting=before.get("n_ranks", 1) - 1, at=10)
        ended = run(folder, SHORT, **after)
        assert not any(one is None or "error" in one for one in (*stopped, *ended)), (name, stopped, ended)
        found[name] = {
            "stopped": stopped,
            "ended": ended,
            "losses": apart(losses(whole), losses(folder)),
            "weights": weights_apart(whole, folder),
        }
    return found


def ending(home: Path) -> dict[str, Any]:
    """Endings that all processes must agree on."""
    astray = replace(SHORT, lr=1e4, schedule=replace(SHORT.schedule, warmup_steps=0))
    soon = replace(SHORT, steps=None, time_budget=1.5, evaluate_every=None)
    return {
        "early": run(home / "early", EARLY, n_ranks=2),
        "early alone": run(home / "early-alone", EARLY),
        "in time": run(home / "soon", soon, n_ranks=2),
        "astray": run(home / "astray", astray, n_ranks=2),
    }


def killed(home: Path) -> dict[str, Any]:
    """A process killed in the middle, and all started again."""
    run(home / "left-alone", DROPPING, n_ranks=2)
    died = run(home / "killed", DROPPING, n_ranks=2, acting=1, at=15, by=signal.SIGKILL)
    ended = run(home / "killed", DROPPING, n_ranks=2)
    return {"died": died, "ended": ended, "equal": files(home / "left-alone") == files(home / "killed")}


def main(home: Path, scenes: Sequence[str]) -> None:
    torch.set_num_threads(1)
    specimen.write_store(home / "store")
    train(home / "first", replace(MUON, steps=2), World(), progress=Progress())  # what is imported late is there now
    found: dict[str, Any] = {}
    for scene in scenes:
        folder = home / scene
        specimen.write_store(folder / "store")
        found[scene] = globals()[scene](folder)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
