"""The command itself, killed again and again, ends with the weights of a run that was left alone."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

N_KILLS = 20
MOST_STARTS = 200
STEPS = 1200
WORDS = ["cat", "dog", "bird", "fish", "house", "tree", "river", "stone", "cloud", "road"]
SETTINGS = (
    f"--preset tiny --train.steps {STEPS} --train.save_every 0.2 --train.evaluate_every 100 --evaluation.sentences 4 "
    "--tokenizer.vocab_size 300 --train.batch.max_tokens 800 --train.optimiser.kind muon --threads 1"
).split()


def start(data: Path, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "clearhead", "train", str(data), "--out", str(folder), *SETTINGS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.mark.long
def test_a_command_killed_twenty_times_ends_as_one_left_alone(tmp_path: Path) -> None:
    data = tmp_path / "pairs.tsv"
    pairs = [f"The {a} is near the {b}.\tthe {b}, near it the {a}" for a in WORDS for b in WORDS if a != b]
    data.write_text("\n".join(pairs) + "\n", encoding="utf-8")
    begun = time.monotonic()
    whole = start(data, tmp_path / "whole")
    while whole.poll() is None and not any((tmp_path / "whole").glob("checkpoints/step-*")):
        time.sleep(0.01)
    until_first = time.monotonic() - begun
    _, complaint = whole.communicate()
    assert whole.returncode == 0, complaint.decode()
    # However fast the machine is: on the average, a kill comes after a thirtieth of the steps.
    most = 2 * (time.monotonic() - begun - until_first) / (1.5 * N_KILLS)
    chance = random.Random(11)  # noqa: S311
    n_kills = 0
    for _ in range(MOST_STARTS):
        run = start(data, tmp_path / "killed")
        try:
            _, complaint = run.communicate(timeout=until_first + most * chance.random() if n_kills < N_KILLS else None)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.communicate()
            n_kills += 1
            continue
        assert run.returncode == 0, complaint.decode()
        break
    # The run was long enough to be killed as often as the name says.
    assert n_kills >= N_KILLS
    assert digest(tmp_path / "killed") == digest(tmp_path / "whole")
