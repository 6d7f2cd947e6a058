"""`clearhead train --processes 2` and plain `torchrun`: real processes, killed, interrupted, refused."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

WORDS = ["cat", "dog", "bird", "fish", "house", "tree", "river", "stone", "cloud", "road"]
N_WORDS_KNOWN = 300
SETTINGS = (
    "--preset tiny --train.save_every 0.2 --train.evaluate_every 100 --evaluation.sentences 4 "
    f"--tokenizer.vocab_size {N_WORDS_KNOWN} --train.batch.max_tokens 800 --threads 1"
).split()
PATIENCE = 600.0
TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node", "2")  # what the command torchrun runs
in_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="the processes are found in /proc")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    lines = [f"The {a} is near the {b}.\tthe {b}, near it the {a}" for a in WORDS for b in WORDS if a != b]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "pairs.tsv"


def start(data: Path, folder: Path, *options: str, by: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Starts a training, at the head of a group of its own, as a shell does."""
    words = ["-m", "clearhead", "train", str(data), "--out", str(folder), *SETTINGS, *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *by, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,
    )


def interrupt(run: subprocess.Popen[str], *, code: int = 130) -> tuple[str, str]:
    """What Ctrl-C does, and what is said then; no process is left behind."""
    mine = workers(run.pid)
    assert len(mine) == 2
    os.killpg(run.pid, signal.SIGINT)
    said, complaint = run.communicate(timeout=PATIENCE)
    assert (run.returncode, "the same command goes on" in said) == (code, True), complaint
    assert "Traceback" not in complaint or code == 1
    assert not any(Path(f"/proc/{each}").exists() for each in mine)
    return said, complaint


def workers(launcher: int) -> list[int]:
    """The processes that a launcher started, by the system's own table."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == launcher and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return sorted(found)


def wait_until(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def newest(folder: Path) -> int:
    return max((int(path.name[5:]) for path in (folder / "checkpoints").glob("step-*")), default=0)


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_what_cannot_be_trained_is_said_once_and_not_tried_again(pairs: Path, tmp_path: Path) -> None:
    missing = start(tmp_path / "nothing.tsv", tmp_path / "run", "--train.steps", "5", "--processes", "2")
    _, said = missing.communicate(timeout=PATIENCE)
    assert missing.returncode == 1
    assert said.count("clearhead:") == 1
    assert "nothing.tsv" in said and "Traceback" not in said and "restart" not in said


@in_proc
def test_plain_torchrun_trains_in_two_processes_and_saves_when_it_is_interrupted(pairs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = start(pairs, folder, "--train.steps", "100000", by=TORCHRUN)
    wait_until(lambda: newest(folder) >= 2, run)
    said, complaint = interrupt(run, code=1)  # and a traceback: torchrun's own, which takes Ctrl-C for a failure
    assert said.count(f"stopped at step {newest(folder)}") == 1, complaint  # the first process alone speaks
    assert json.loads((folder / "run.json").read_text())["processes"] == 2


@pytest.mark.long
@in_proc
def test_torchrun_with_a_killed_worker_and_a_run_that_was_interrupted_end_as_one_left_alone(
    pairs: Path, tmp_path: Path
) -> None:
    whole = start(pairs, tmp_path / "whole", "--train.steps", "100", by=TORCHRUN)
    _, complaint = whole.communicate(timeout=PATIENCE)
    assert whole.returncode == 0, complaint
    run = start(pairs, tmp_path / "killed", "--train.steps", "100", by=(*TORCHRUN, "--max-restarts", "1"))
    wait_until(lambda: newest(tmp_path / "killed") >= 20, run)
    os.kill(workers(run.pid)[1], signal.SIGKILL)
    _, complaint = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, complaint
    assert complaint.count("all start again") == 1
    assert digest(tmp_path / "killed") == digest(tmp_path / "whole")
    run = start(pairs, tmp_path / "stopped", "--train.steps", "100", "--processes", "2")
    wait_until(lambda: newest(tmp_path / "stopped") >= 20, run)
    interrupt(run)
    run = start(pairs, tmp_path / "stopped", "--train.steps", "100", "--processes", "2")
    _, complaint = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, complaint
    assert digest(tmp_path / "stopped") == digest(tmp_path / "whole")


@pytest.mark.long
@in_proc
def test_a_killed_worker_is_started_again_and_the_weights_are_those_of_a_run_left_alone(
    pairs: Path, tmp_path: Path
) -> None:
    options = ("--train.steps", "300", "--processes", "2")
    whole = start(pairs, tmp_path / "whole", *options)
    _, complaint = whole.communicate(timeout=PATIENCE)
    assert whole.returncode == 0, complaint
    run = start(pairs, tmp_path / "killed", *options)
    for victim, after in ((1, 20), (0, 120)):
        wait_until(lambda after=after: newest(tmp_path / "killed") >= after, run)
        os.kill(workers(run.pid)[victim], signal.SIGKILL)
    said, complaint = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, complaint
    assert "finished after 300 steps" in said
    assert complaint.count("all start again") == 2
    assert "Traceback" not in complaint
    assert digest(tmp_path / "killed") == digest(tmp_path / "whole")


@pytest.mark.long
@in_proc
def test_a_run_is_interrupted_and_goes_on_in_one_process(pairs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = start(pairs, folder, "--train.steps", "120", "--train.optimiser.kind", "adamw", "--processes", "2", "--shard")
    wait_until(lambda: newest(folder) >= 10, run)
    interrupt(run)
    assert json.loads((folder / "run.json").read_text())["processes"] == 2
    alone = start(pairs, folder, "--train.steps", "120", "--train.optimiser.kind", "adamw")
    said, complaint = alone.communicate(timeout=PATIENCE)
    assert alone.returncode == 0, complaint
    assert "begun in 2 processes, now in one process" in complaint
    assert "finished after 120 steps" in said
