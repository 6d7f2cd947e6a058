"""What looking costs: decoding with every pattern recorded, beside plain decoding, in turns; and memory on long texts.

    python benchmarks/trace.py [--rounds 7] [--models NAME...] [--beams 1]

Batch 1, float32, one thread, greedy unless beams are asked for. Times are those that the processor gave to this
process, so that who else wants it does not count; the plain run and the recorded ones take turns, so that a machine
whose caches are busy slows them alike; the medians are compared. Memory is the peak of a process of its own that writes
1,000 tokens with every site recorded through the disk.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

import clearhead
from clearhead.config import SIZES, TokenIds, architecture
from clearhead.model import Model
from clearhead.models import build
from clearhead.testing import ByteTokenizer
from clearhead.trace import record_generation

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", "../shared"))
TEXTS = {
    "translator": ("They walked along the bank of the river, and then they went home to eat some ice cream.", "fr"),
    "default": ("Once upon a time, there was a little dog who", None),
}
PATTERNS = "*.pattern"
LONG = 1000


def timed(work: Callable[[], object]) -> float:
    """Seconds of the processor that one call takes."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def compare(name: str, rounds: int, beams: int) -> None:
    """Print what recording costs for one model."""
    model = clearhead.load(name)
    text, to = TEXTS.get(Path(name).name, TEXTS["default"])
    options = {"beams": beams, "max_new_tokens": 120, **({} if to or beams > 1 else {"temperature": 0})}

    def plain() -> object:
        return record_nothing(model, text, to, options)

    def recorded() -> object:
        return model.generate(text, to=to, trace=PATTERNS, **options)

    def everything() -> object:
        return model.generate(text, to=to, trace="*", **options)

    works = {"plain": plain, "patterns": recorded, "everything": everything}
    for work in works.values():
        work()
    times: dict[str, list[float]] = {key: [] for key in works}
    for number in range(rounds):
        order = list(works) if number % 2 else list(works)[::-1]
        for key in order:
            times[key].append(timed(works[key]))
    medians = {key: statistics.median(values) for key, values in times.items()}
    steps = len(model.generate(text, to=to, **options).trace.written)
    print(f"{Path(name).name}: {steps} tokens, beams {beams}, plain {steps / medians['plain']:.0f} tokens/s")
    for key in ("patterns", "everything"):
        print(f"  {key:<10} {medians[key] / medians['plain']:.3f} times plain decoding")


def record_nothing(model: Model, text: str, to: str | None, options: dict[str, object]) -> object:
    """The same text without a listener."""
    if to is not None:
        return model.translate(text, to=to, **options)
    return model.complete(text, **options)


def long_run() -> None:
    """Write 1,000 tokens of a model with 6 layers, every site recorded through the disk; print the peak."""
    tokenizer = ByteTokenizer()
    size = replace(SIZES["small"], n_layers=6, max_length=LONG + 64)
    config = architecture("llama", size=size, vocab_size=tokenizer.vocab_size)
    config = replace(config, tokens=TokenIds(pad=0, start=1, end=()))
    model = Model.of(build(config, seed=0), tokenizer=tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "long.safetensors"
        found = record_generation(model.loaded, "A", max_new_tokens=LONG, temperature=0, out=out)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{len(found.trace.target)} tokens, {len(found.trace)} sites, {out.stat().st_size / 2**20:.0f} MB on disk"
        )
        print(f"  peak memory {peak:.0f} MB")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--models", nargs="*", default=[str(SHARED / "models" / "stories15M"), "translator"])
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="the memory of one long run alone, in this process")
    given = parser.parse_args()
    if given.long:
        long_run()
        return
    torch.set_num_threads(1)
    for name in given.models:
        compare(name, given.rounds, given.beams)
    sys.stdout.flush()
    subprocess.run([sys.executable, __file__, "--long"], check=True)  # noqa: S603  (this very file)


if __name__ == "__main__":
    main()
