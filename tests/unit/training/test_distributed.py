"""Several processes train what one process trains, and end as one: real processes, joined by gloo."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from clearhead.data import Cursor, TokenStore
from clearhead.training.feed import share
from clearhead.training.objective import IDLE
from clearhead.training.world import World

from .specimen import changed, feed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forks")

CLOSE = 1e-4


def scene(*names: str) -> dict[str, Any]:
    script = Path(__file__).with_name("several_processes.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    memory = Path("/dev/shm")  # noqa: S108  (a disk takes its time to write everything for certain)
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as home:
        command = [sys.executable, str(script), home, *names]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def played() -> dict[str, Any]:
    """What the short scenes found: they are played in one go, for most of the time of one is its start."""
    return scene("agreement", "moving", "killed", "ending")


def check_agreement(found: dict[str, Any]) -> None:
    for name, case in found.items():
        assert case["losses"] < CLOSE, name
        assert case["weights"] < 1e-3, name
        assert case["shapes"], name  # the files that one process writes


def test_several_processes_learn_what_one_does(played: dict[str, Any]) -> None:
    found = played["agreement"]
    assert found["adamw-2-copies"]["n"] == 200
    check_agreement(found)


@pytest.mark.long
def test_copies_and_pieces_of_two_and_three_processes_learn_what_one_does() -> None:
    found = scene("long_agreement")["long_agreement"]
    assert {case["n"] for name, case in found.items() if name.startswith("adamw")} == {200}
    check_agreement(found)


def check_moves(found: dict[str, Any]) -> None:
    for name, case in found.items():
        # A signal that one process heard stops all of them at the same step, soon after.
        stopped = case["stopped"]
        assert {answer["step"] for answer in stopped} <= {10, 11, 12}, name
        assert all(answer == stopped[0] for answer in stopped), name
        assert {(answer["status"], answer["by"]) for answer in stopped} == {("running", signal.SIGINT)}, name
        assert {(answer["status"], answer["step"]) for answer in case["ended"]} == {("completed", 24)}, name
        assert case["losses"] < CLOSE, name
        assert case["weights"] < 1e-3, name


def test_a_run_goes_on_in_another_number_of_processes(played: dict[str, Any]) -> None:
    check_moves(played["moving"])


@pytest.mark.long
def test_a_run_goes_on_in_any_number_of_processes() -> None:
    check_moves(scene("long_moving")["long_moving"])


def test_a_killed_process_ends_the_others_and_the_run_ends_as_if_nothing_had_happened(played: dict[str, Any]) -> None:
    found = played["killed"]
    survivor, dead = found["died"]
    assert dead is None
    assert "error" in survivor  # it did not wait for the dead, nor save what they had not agreed on
    assert {(answer["status"], answer["step"]) for answer in found["ended"]} == {("completed", 24)}
    assert found["equal"]


def test_all_processes_agree_on_the_end(played: dict[str, Any]) -> None:
    found = played["ending"]
    for name in ("early", "in time", "astray"):
        first, second = found[name]
        assert first == second, name
    assert found["early"] == [found["early alone"][0]] * 2
    assert found["early"][0]["status"] == "stopped-early"
    assert found["in time"][0]["status"] in ("completed", "out-of-time")
    assert "diverged" in found["astray"][0]["error"]


def test_shares_are_without_overlap_or_loss(store: TokenStore) -> None:
    for n_rows in (1, 2, 5, 12):
        rows = np.arange(n_rows)
        for n_ranks in (1, 2, 5):
            worlds = [World(rank=rank, n_ranks=n_ranks) for rank in range(n_ranks)]
            shares = [share(rows, world).tolist() for world in worlds if world.rank < n_rows]
            assert sorted(row for mine in shares for row in mine) == rows.tolist()
            assert all(len(share(rows, world)) for world in worlds)  # a process without a share is lent a row
    start = Cursor(epoch=0, batch=0)
    settings = changed()
    whole = feed(store, settings).follow(start)
    parts = [feed(store, settings, World(rank=rank, n_ranks=2)).follow(start) for rank in range(2)]
    for _ in range(20):
        cursor, batch = next(whole)
        shares = [next(part) for part in parts]
        assert [after for after, _ in shares] == [cursor, cursor]
        lent = [IDLE in share_ for _, share_ in shares]
        n_tokens = sum(int(mine["target_mask"].sum()) for (_, mine), idle in zip(shares, lent, strict=True) if not idle)
        assert n_tokens == int(batch["target_mask"].sum())


def test_one_process_needs_no_engine() -> None:
    code = (
        "import sys, clearhead.training.train, clearhead.training.distributed; "
        "print([name for name in sys.modules if name.startswith('torch.distributed.fsdp')"
        " or name.startswith('torch.distributed.elastic')])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
