"""Serving: many requests through the scheduler at once, beside the same requests one at a time.

    OMP_NUM_THREADS=1 taskset -c 1 python benchmarks/serving.py [--rounds 3] [--tokens 64] [--rows 8 32] [--models …]

Float32, greedy and drawn; prompts of unequal lengths. One at a time means `Engine.generate([request])` for each
request, with the same cache and products; both write text. Runs take turns, so that a busy machine slows
both: the ratio of the medians is what counts. Every answer is compared with the one that its request got alone.
"""

import argparse
import json
import os
import queue
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

import clearhead
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.engine.serving import Failure, Limits, Scheduler

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
LONGEST_PROMPT = 24


def engines() -> Iterator[tuple[str, Engine]]:
    """The models to serve, by name."""
    yield "storyteller", clearhead.load("storyteller").loaded.engine
    stories = SHARED / "models/stories15M"
    if stories.is_dir():
        yield "stories15M", clearhead.load(stories).loaded.engine
    else:
        print(f"no stories15M at {stories}: set CLEARHEAD_SHARED", file=sys.stderr)


def requests(n: int, n_tokens: int, *, drawn: bool) -> list[Request]:
    """Prompts of unequal lengths, each with a seed of its own."""
    chance = random.Random(n)  # noqa: S311  (nothing is kept secret here)
    made: list[Request] = []
    for seed in range(n):
        ids = tuple(chance.randint(3, 1000) for _ in range(chance.randint(2, LONGEST_PROMPT)))
        how = {"sample": True, "seed": seed, "top_p": 0.95, "temperature": 0.8} if drawn else {}
        made.append(Request(ids=ids, settings=DecodingSettings(max_new_tokens=n_tokens, **how)))
    return made


def together(scheduler: Scheduler, asked: Sequence[Request]) -> list[tuple[int, ...]]:
    """All at once, as a server's clients would ask."""
    ended: queue.SimpleQueue[Failure | None] = queue.SimpleQueue()

    def hear(note: object) -> None:
        if isinstance(note, Failure):
            ended.put(note)
        elif note.finish is not None:
            ended.put(None)

    tickets = [scheduler.submit(request, notify=hear) for request in asked]
    for _ in tickets:
        failure = ended.get()
        if failure is not None:
            raise failure.error
    return [ticket.reply.best.ids for ticket in tickets]


def compare(name: str, engine: Engine, *, n: int, n_tokens: int, rounds: int, drawn: bool) -> dict[str, object]:
    """Both in turn; the median of each."""
    asked = requests(n, n_tokens, drawn=drawn)
    scheduler = Scheduler(engine=engine, limits=Limits(most_rows=n))
    runs = {
        "scheduled": lambda: together(scheduler, asked),
        "one at a time": lambda: [engine.generate([request])[0].best.ids for request in asked],
    }
    found = {who: run() for who, run in runs.items()}  # warm, and equal
    same = sum(a == b for a, b in zip(*found.values(), strict=True))
    seconds: dict[str, list[float]] = {who: [] for who in runs}
    for _ in range(rounds):
        for who, run in runs.items():
            start = time.process_time()
            run()
            seconds[who].append(time.process_time() - start)
    scheduler.close(grace=0.0)
    rate = {who: n * n_tokens / statistics.median(taken) for who, taken in seconds.items()}
    ratio = rate["scheduled"] / rate["one at a time"]
    print(
        f"{name:12} {'drawn' if drawn else 'greedy':6} {n:3} rows  scheduled {rate['scheduled']:7.1f}  "
        f"one at a time {rate['one at a time']:7.1f} tokens/s  ratio {ratio:.2f}  equal answers {same}/{n}",
        flush=True,
    )
    return {"model": name, "drawn": drawn, "rows": n, **rate, "ratio": ratio, "equal": same}


def main() -> None:
    """Compare, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rows", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--models", nargs="+", default=["storyteller", "stories15M"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, seconds of processor time")
    results = [
        compare(name, engine, n=n, n_tokens=options.tokens, rounds=options.rounds, drawn=drawn)
        for name, engine in engines()
        if name in options.models
        for drawn in (False, True)
        for n in options.rows
    ]
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
