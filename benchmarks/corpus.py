"""A corpus from a file to an epoch of batches: how long it takes, and how much memory.

    python benchmarks/corpus.py [--tokens 5000000] [--tokens 100000000]

Each size runs in a process of its own, whose peak of memory is measured. It writes pairs of made-up sentences to a
file, learns a vocabulary from them, prepares them, and fills every batch of one epoch, as `clearhead train` does it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from clearhead.data import Batches, Recipe, Source, Task, cleaned_records, make_tokenizer, pad, prepare

SIZES = (5_000_000, 100_000_000)
MAX_TOKENS = 4096
WORDS = 4000
SHORTEST, LONGEST = 3, 24
PAIRS_AT_ONCE = 10_000
STEPS = ("write", "vocabulary", "prepare", "epoch")


def lines(n_tokens: int, *, seed: int = 0) -> Iterator[str]:
    """Pairs of sentences, their words as rare and as common as those of a language, until there are enough tokens."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, 2 + place % 8)) for place in range(WORDS)]
    common = 1 / np.arange(10, 10 + WORDS)
    n_written = 0
    while n_written < n_tokens:
        lengths = rng.integers(SHORTEST, LONGEST, PAIRS_AT_ONCE)
        others = np.maximum(1, lengths + rng.integers(-2, 3, PAIRS_AT_ONCE))
        drawn = iter(rng.choice(WORDS, int((lengths + others).sum()), p=common / common.sum()).tolist())
        for pair in zip(lengths.tolist(), others.tolist(), strict=True):
            source, target = (" ".join(words[next(drawn)] for _ in range(length)) for length in pair)
            yield f"{source}\t{target}\n"
            n_written += sum(pair) + 2  # each side has an end
            if n_written >= n_tokens:
                return


def peak_megabytes() -> float:
    """The most memory that this process has had."""
    status = Path("/proc/self/status")
    if status.is_file():  # the number below may be that of the process that started this one
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 1024


def measure(n_tokens: int, folder: Path) -> dict[str, float]:
    """All steps for one size: the seconds of each, and what they came to."""
    found: dict[str, float] = {}

    @contextmanager
    def timed(name: str) -> Generator[None, None, None]:
        start = time.perf_counter()
        yield
        found[name] = time.perf_counter() - start

    path = folder / "pairs.tsv"
    with timed("write"), path.open("w", encoding="utf-8") as stream:
        stream.writelines(lines(n_tokens))
    source, recipe = Source(paths=(path,), task=Task.TRANSLATE), Recipe(task=Task.TRANSLATE)
    with timed("vocabulary"):
        tokenizer = make_tokenizer(cleaned_records([source], recipe), task=Task.TRANSLATE)
    with timed("prepare"):
        store = prepare([source], folder=folder / "data", tokenizer=tokenizer, recipe=recipe).train
    pad_id = tokenizer.special.pad
    assert pad_id is not None
    with timed("epoch"):
        batches = Batches(store=store, max_tokens=MAX_TOKENS, seed=0)
        n_real = 0
        for rows in batches.one_epoch():
            for field in store.fields:
                _, mask = pad([store.ids(field, int(row)) for row in rows], pad_id=pad_id)
                n_real += int(mask.sum())
    assert n_real == store.n_tokens, "an epoch has every token once"
    return {
        **found,
        "tokens": n_real,
        "records": len(store),
        "padding": batches.padding_share(),
        "megabytes": peak_megabytes(),
    }


def main() -> None:
    """Measure each size in its own process, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, action="append", help="a size; may be given several times")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        with tempfile.TemporaryDirectory() as scratch:
            print(json.dumps(measure(options.measure, Path(scratch))))
        return
    print(f"{'tokens':>12} {'pairs':>10} {'padding':>8}" + "".join(f"{step:>12}" for step in STEPS) + f"{'peak':>10}")
    for n_tokens in options.tokens or SIZES:
        command = [sys.executable, __file__, "--measure", str(n_tokens)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603  (this very file)
        found = json.loads(ran.stdout)
        seconds = "".join(f"{found[step]:>10.1f} s" for step in STEPS)
        sizes = f"{found['tokens']:>12,} {found['records']:>10,} {found['padding']:>8.1%}"
        print(f"{sizes}{seconds}{found['megabytes']:>7.0f} MB", flush=True)


if __name__ == "__main__":
    main()
