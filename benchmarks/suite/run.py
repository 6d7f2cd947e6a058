"""Ours beside the peers, on the same weights and inputs, in one run.

    python benchmarks/suite/run.py [--threads 2] [--clock wall] [--only SECTION] [--fresh] [--out docs]

Each section is kept when it is done, so that a run that was stopped goes on where it was; --fresh begins anew. The
page and the numbers go to `docs/benchmarks.md` and `docs/benchmarks.json`.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("CLEARHEAD_SHARED", ROOT / "../shared")).resolve()


def sections(options: argparse.Namespace, work: Path) -> dict[str, Callable[[], dict[str, object]]]:
    """What is measured, by name."""
    import decoding  # noqa: PLC0415  (after the number of threads is set)
    import machine  # noqa: PLC0415
    import reading  # noqa: PLC0415
    import starting  # noqa: PLC0415

    clock, threads, rounds = options.clock, options.threads, options.rounds
    timed = {"rounds": rounds, "clock": clock}
    return {
        "machine": lambda: machine.describe(threads=threads, clock=clock),
        "decode_1": lambda: decoding.measure(work, batch=1, n_tokens=64, threads=threads, **timed),
        "decode_16": lambda: decoding.measure(work, batch=16, n_tokens=64, threads=threads, **timed),
        "recording": lambda: decoding.measure_recording(work, n_tokens=48, **timed),
        "translation": lambda: reading.measure_translation(work, SHARED, n_lines=512, threads=threads, **timed),
        "embedding": lambda: reading.measure_embedding(work, SHARED, n_texts=1000, threads=threads, **timed),
        "starting": lambda: starting.measure(rounds=rounds),
    }


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", metavar="SECTION")
    parser.add_argument("--fresh", action="store_true", help="forget what is measured already")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--work", type=Path, default=ROOT / "build/bench")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import torch  # noqa: PLC0415  (reads the number of threads)

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
            kept.write_text(json.dumps(measure(), indent=2) + "\n")
        if kept.is_file():
            found[name] = json.loads(kept.read_text())
            print(f"{name}: {json.dumps(found[name])}", flush=True)
    write(found, options.out)


if __name__ == "__main__":
    main()
