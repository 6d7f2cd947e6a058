"""What growing costs: one process and two, a corpus once, ten times and a hundred times; planned beside measured.

    python benchmarks/scale.py [--only plan] [--only corpus] [--pictures docs/pictures] [--rounds 3] [--steps 8]

    plan      a language model and a translator, trained by `clearhead train` in one process with all threads and in
              `--processes N` of one thread each, beside what `--plan` says: tokens a second, in several rounds, each
              of which trains everything once. What the planner is given: the peak of a large product, measured here
              just before and just after each training (the mean of what it says then is compared); and one constant,
              the share of it that goes into a model, which was fitted to benchmarks/train.py and not to these runs.
              In the end the median over the rounds, and the smallest and the largest ratio.
    corpus    made-up pairs, repeated: seconds until the first step (reading, cleaning, vocabulary, encoding), and
              tokens a second in the first steps. An epoch's seconds are its tokens divided by that rate.

Each run is a process of its own. Wall-clock: for a machine with nothing else to do.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from corpus import lines as made_up_lines

from clearhead.data import Task
from clearhead.figures import bars, curves
from clearhead.training.flops import matmul_peak
from clearhead.training.job import make_job
from clearhead.training.planner import parse_cluster, plan, workload_of

PAIRS_TOKENS = 60_000
REPEATS = (1, 10, 100)
KINDS = ("planned", "measured")
IGNORED = 3
"""First steps, which find memory and caches empty."""
MODEL = "--model.n_layers 4 --model.width 256 --model.n_heads 4 --model.feedforward_width 1024"
WORK = {
    "language model, AdamW": (
        Task.LANGUAGE_MODEL,
        f"{MODEL} --train.optimiser.kind adamw --train.batch.max_tokens 4096 --train.batch.window 128",
    ),
    "translator, Muon": (Task.TRANSLATE, f"{MODEL} --train.optimiser.kind muon --train.batch.max_tokens 8192"),
}
SHORT_STEPS = 24
"""Steps of a model so small that one takes a fraction of a second."""
SMALL = "--model.n_layers 2 --model.width 128 --model.n_heads 4 --model.feedforward_width 512"
USUAL = (
    "--tokenizer.vocab_size 2000 --evaluation.sentences 0 --evaluation.samples 0 --data.rules.deduplicate false "
    "--train.log_every 1 --train.evaluate_every 100000 --train.save_every 3600"
)


def train(data: Path, folder: Path, task: Task, settings: str, *, n_steps: int, n_processes: int) -> list[dict]:
    """The lines of the log of a run; the processes share the machine's threads."""
    n_threads = max(1, (os.cpu_count() or 1) // n_processes)
    given = f"--task {task} {USUAL} {settings} --train.steps {n_steps} --threads {n_threads}".split()
    if n_processes > 1:
        given += ["--processes", str(n_processes)]
    command = [sys.executable, "-m", "clearhead", "train", str(data), "--out", str(folder), *given]
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
    if result.returncode:
        sys.exit(result.stderr)
    found = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line for line in found if "tokens_per_second" in line]


def durations(log: list[dict]) -> list[float]:
    """The seconds of each step after the first few."""
    return [after["seconds"] - before["seconds"] for before, after in zip(log[IGNORED - 1 :], log[IGNORED:])]  # noqa: B905


def rate(log: list[dict]) -> float:
    """Tokens a second of all steps after the first few; not all have as many tokens."""
    seconds = durations(log)
    n_tokens = sum(line["tokens_per_second"] * each for line, each in zip(log[IGNORED:], seconds, strict=True))
    return n_tokens / sum(seconds)


def planned(task: Task, settings: str, n_processes: int) -> float:
    """Tokens a second, by the planner."""
    words = settings.split()
    overrides = [f"{name[2:]}={value}" for name, value in zip(words[::2], words[1::2], strict=True)]
    job = make_job(task, overrides=[*overrides, "tokenizer.vocab_size=2000", "train.steps=100"])
    torch.set_num_threads(os.cpu_count() or 1)
    matmul_peak.cache_clear()
    cluster = parse_cluster("cpu" if n_processes == 1 else f"{n_processes}xcpu")
    return plan(workload_of(job), cluster)[0].tokens_per_second


def write_pairs(path: Path, times: int, task: Task = Task.TRANSLATE) -> Path:
    """The same made-up pairs, so many times; as running text for a language model."""
    once = "".join(made_up_lines(PAIRS_TOKENS))
    if task is Task.LANGUAGE_MODEL:
        once = once.replace("\t", " ")
    with path.open("w", encoding="utf-8") as stream:
        for _ in range(times):
            stream.write(once)
    return path


def compare(scratch: Path, *, n_rounds: int, n_steps: int, most: int) -> dict[str, tuple[float, float]]:
    """Planned and measured tokens a second of each work and number of processes: medians over the rounds."""
    runs: dict[str, list[tuple[float, float]]] = {}
    print(f"{'round':8}{'':34}{'planned':>9}{'measured':>10}{'ratio':>7}")
    for number in range(n_rounds):
        for name, (task, settings) in WORK.items():
            data = write_pairs(scratch / f"{task}.{'txt' if task is Task.LANGUAGE_MODEL else 'tsv'}", 3, task)
            for n_processes in range(1, most + 1):
                folder = scratch / f"{task}-{n_processes}-{number}"
                before = planned(task, settings, n_processes)
                seen = rate(train(data, folder, task, settings, n_steps=n_steps, n_processes=n_processes))
                said = (before + planned(task, settings, n_processes)) / 2
                row = f"{name}, {spelled(n_processes)}"
                runs.setdefault(row, []).append((said, seen))
                print(f"{number + 1:<8}{row:34}{said:>9.0f}{seen:>10.0f}{said / seen:>7.2f}", flush=True)
    found: dict[str, tuple[float, float]] = {}
    for row, pairs in runs.items():
        said, seen = (statistics.median(values) for values in zip(*pairs, strict=True))
        ratios = [one / other for one, other in pairs]
        found[row] = said, seen
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{'median':8}{row:34}{said:>9.0f}{seen:>10.0f}{statistics.median(ratios):>7.2f}  ({spread})")
    return found


def spelled(n_processes: int) -> str:
    """So many processes, in words."""
    return "1 process" if n_processes == 1 else f"{n_processes} processes"


def grow(scratch: Path, *, n_steps: int, most: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds by tokens of the corpus: until the first step, and of an epoch, with each number of processes."""
    found: dict[str, list[tuple[float, float]]] = {}
    print(f"{'tokens':>12}{'processes':>10}{'prepared':>11}{'tokens/s':>10}{'an epoch':>11}")
    for times in REPEATS:
        data = write_pairs(scratch / f"pairs-{times}.tsv", times)
        for n_processes in range(1, most + 1):
            settings = f"{SMALL} --train.optimiser.kind adamw --train.batch.max_tokens 4096"
            folder = scratch / f"grown-{times}-{n_processes}"
            log = train(data, folder, Task.TRANSLATE, settings, n_steps=n_steps, n_processes=n_processes)
            summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            n_tokens = PAIRS_TOKENS * times * summary["examples"]["train"] / sum(summary["examples"].values())
            until = log[0]["seconds"] - statistics.median(durations(log))
            epoch = n_tokens / rate(log)
            print(f"{n_tokens:>12.0f}{n_processes:>10}{until:>9.1f} s{rate(log):>10.0f}{epoch:>9.1f} s", flush=True)
            found.setdefault("an epoch, " + spelled(n_processes), []).append((n_tokens, epoch))
            if n_processes == 1:
                found.setdefault("until the first step", []).append((n_tokens, until))
    return found


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("plan", "corpus"))
    parser.add_argument("--rounds", type=int, default=3, help="of planned beside measured")
    parser.add_argument("--steps", type=int, default=8, help="of each training that is planned")
    parser.add_argument("--processes", type=int, default=2, help="the most")
    parser.add_argument("--pictures", type=Path, help="a folder for the curves")
    options = parser.parse_args()
    start = time.monotonic()
    print(f"torch {torch.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if options.only != "corpus":
            found = compare(scratch, n_rounds=options.rounds, n_steps=options.steps, most=options.processes)
            if options.pictures:
                named = {f"{row}, {kind}": both[at] for row, both in found.items() for at, kind in enumerate(KINDS)}
                drawn = bars(list(named.values()), names=list(named), title="Tokens a second", spelling=",.0f")
                drawn.save(options.pictures / "scale-processes.svg")
        if options.only != "plan":
            grown = grow(scratch, n_steps=SHORT_STEPS, most=options.processes)
            if options.pictures:
                drawn = curves(
                    grown, title="Seconds by tokens of the corpus", x_label="tokens", log_axes="xy", size=(560, 320)
                )
                drawn.save(options.pictures / "scale-corpus.svg")
    print(f"{time.monotonic() - start:.0f} s in all")


if __name__ == "__main__":
    main()
