"""Ours beside the peers, on the same weights and inputs, in one run.

    python benchmarks/suite/run.py [--threads 2] [--clock wall] [--only SECTION...] [--fresh] [--out docs]

Each section is kept when it is done, so that a run that was stopped goes on where it was; --fresh begins anew. The
page, the numbers and a chart go to `docs/benchmarks.md`, `.json` and `.svg`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORYTELLER = ROOT / "src/clearhead/pretrained/storyteller"
SHARED = Path(os.environ.get("CLEARHEAD_SHARED", ROOT / "../shared")).resolve()


def sections(options: argparse.Namespace, work: Path) -> dict[str, Callable[[], dict[str, object]]]:
    """What is measured, by name."""
    import decoding  # noqa: PLC0415  (after the number of threads is set)
    import growing  # noqa: PLC0415
    import machine  # noqa: PLC0415
    import memory  # noqa: PLC0415
    import quality  # noqa: PLC0415
    import reading  # noqa: PLC0415
    import recording  # noqa: PLC0415
    import starting  # noqa: PLC0415
    import training  # noqa: PLC0415

    clock, threads, rounds = options.clock, options.threads, options.rounds
    timed = {"rounds": rounds, "clock": clock}
    stories = SHARED / "models/stories15M"
    return {
        "machine": lambda: machine.describe(threads=threads, clock=clock),
        "decode_1": lambda: decoding.measure(work, batch=1, n_tokens=64, threads=threads, **timed),
        "decode_16": lambda: decoding.measure(work, batch=16, n_tokens=48, threads=threads, **timed),
        "translation": lambda: reading.measure_translation(
            work, SHARED, n_lines=512, beams=4, threads=threads, clock=clock, rounds=3
        ),
        "embedding": lambda: reading.measure_embedding(work, SHARED, n_texts=1000, threads=threads, **timed),
        "recording": lambda: recording.measure(work, SHARED, **timed),
        "starting": lambda: starting.measure(rounds=rounds),
        "quality": lambda: quality.measure(SHARED, n_texts=100),
        "translation_1": lambda: reading.measure_translation(
            work, SHARED, n_lines=512, beams=1, threads=threads, clock=clock, rounds=3
        ),
        "stories_1": lambda: decoding.measure(work, stories, batch=1, n_tokens=128, threads=threads, **timed),
        "stories_16": lambda: decoding.measure(work, stories, batch=16, n_tokens=128, threads=threads, **timed),
        "storyteller_1": lambda: decoding.measure(work, STORYTELLER, batch=1, n_tokens=128, threads=threads, **timed),
        "storyteller_16": lambda: decoding.measure(work, STORYTELLER, batch=16, n_tokens=128, threads=threads, **timed),
        "prefill": lambda: decoding.measure_prefill(work, n_tokens=1000, **timed),
        "growing": lambda: growing.measure(work, rounds=3, clock=clock),
        "memory": lambda: memory.measure(work, threads=threads),
        "training": lambda: training.measure(threads=threads, rounds=3),
    }


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="SECTION")
    parser.add_argument("--fresh", action="store_true", help="forget what is measured already")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--work", type=Path, default=ROOT / "build/bench")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import_module("clearhead")  # as a user does; it says how long torch's threads wait for work
    import torch  # noqa: PLC0415  (reads the number of threads)

    os.environ.pop("GOMP_SPINCOUNT", None)  # peers with threads of their own have them as they come
    torch.set_num_threads(options.threads)
    from page import write  # noqa: PLC0415

    from clearhead.engine.kernels import ready  # noqa: PLC0415

    ready.load()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, object]] = {}
    for name, measure in sections(options, work).items():
        kept = work / f"{name}.json"
        wanted = options.only is None or name in options.only
        if wanted and (options.fresh or not kept.is_file()):
            print(f"{name} …", file=sys.stderr, flush=True)
            begun = time.perf_counter()
            kept.write_text(json.dumps(measure(), indent=2) + "\n")
            print(f"  {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        if kept.is_file():
            found[name] = json.loads(kept.read_text())
            print(f"{name}: {json.dumps(found[name])}", flush=True)
    write(found, options.out)


if __name__ == "__main__":
    main()
