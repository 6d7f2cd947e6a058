"""Trains in processes that are killed, and prints what came of it; run by test_killed.py.

Every run is a fork of this process, which has no other threads: a kill costs no second start.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import specimen
import torch

SETTINGS = replace(
    specimen.SETTINGS, steps=12, evaluate_every=4, save_every=0.001
)  # a checkpoint after nearly every step
MOST_TRIES = 5


def fork(work: Callable[[], None], *, kill_after: float | None = None) -> bool:
    """Whether a child came to the end of its work."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def train(folder: Path, store: Path) -> None:
    with specimen.trainer(folder, specimen.TokenStore(folder=store), SETTINGS) as trainer:
        trainer.run()
        parameters = [parameter.detach().numpy().tobytes() for parameter in trainer.network.parameters()]
    (folder / "weights.sha256").write_text(hashlib.sha256(b"".join(parameters)).hexdigest())


def timed(work: Callable[[], None]) -> float:
    """How long a child takes."""
    start = time.monotonic()
    fork(work)
    return time.monotonic() - start


def dying(name: str, nth: int, work: Callable[[], None]) -> Callable[[], None]:
    """The work, in a process that ends without a word at the nth call of a function of the system."""
    calls = iter(range(1, 10**9))
    genuine: Callable[..., Any] = getattr(os, name)

    def deadly(*arguments: Any, **options: Any) -> Any:
        if next(calls) == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return genuine(*arguments, **options)

    def run() -> None:
        setattr(os, name, deadly)
        work()

    return run


def result(folder: Path) -> dict[str, Any]:
    newest = max((folder / "checkpoints").glob("step-*"))
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("seconds", None), line.pop("tokens_per_second", None)
    return {
        "weights": (folder / "weights.sha256").read_text(),
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in newest.glob("*.safetensors")},
        "metrics": lines,
    }


def main(home: Path) -> None:
    torch.set_num_threads(1)
    store = home / "store"
    specimen.write_store(store)
    train(home / "first", store)  # whatever is imported late is there from now on
    seconds = min(timed(lambda name=name: train(home / name, store)) for name in ("whole", "again", "once more"))
    whole = result(home / "whole")
    chance = random.Random(5)  # noqa: S311
    moments: list[tuple[str, float]] = [("time", 0.8 * chance.random() * seconds) for _ in range(5)]
    moments += [("fsync", chance.randrange(1, 80)) for _ in range(5)]
    moments += [("rename", chance.randrange(1, 13)) for _ in range(5)]
    moments += [("mkdir", 1), ("fsync", 1), ("rename", 1)]
    report = []
    for number, (kind, moment) in enumerate(moments):
        folder = home / f"run-{number}"

        def work(folder: Path = folder) -> None:
            train(folder, store)

        finished = fork(work, kill_after=moment) if kind == "time" else fork(dying(kind, int(moment), work))
        n_tries = 0
        while not finished and n_tries < MOST_TRIES:
            n_tries += 1
            finished = fork(work)
        equal = finished and result(folder) == whole
        report.append({"kind": kind, "moment": moment, "n_tries": n_tries, "equal": equal})
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
