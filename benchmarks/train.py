"""A training loop beside the one that most people write, in one run: tokens a second, padding not counted.

    python benchmarks/train.py [--rounds 5] [--steps 8] [--preset small] [--optimiser adamw] [--threads 1] [--profile]

Both train a translator of the same size on the captions of multi30k: theirs with `torch.nn.Transformer`, batches
of sentences drawn at random and padded to the longest, `nn.CrossEntropyLoss` over all positions and Adam; ours
as `clearhead train` does it. The share of the peak is that of a large float32 product, measured in the same rounds, by
torch.mm and by the faster library where there is one; what an optimiser multiplies is not counted. With one thread, the
time is that which the processor gave to this process, so that a busy machine can be measured on too.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from clearhead.config import SIZES, Size
from clearhead.data import Batches, Cursor, Recipe, Source, Task, cleaned_records, make_tokenizer, pad, prepare
from clearhead.data.store import TokenStore
from clearhead.nn.product import product
from clearhead.training import RecordFeed, TranslateObjective
from clearhead.training.job import make_job
from clearhead.training.networks import make_network
from clearhead.training.step import Stepper
from clearhead.training.world import World

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
SENTENCES = 128
TOKENS = 4096
SIDE = 1536


class Naive(nn.Module):
    """`torch.nn.Transformer` with what it needs around it, as tutorials have it."""

    def __init__(self, size: Size, vocab_size: int) -> None:
        super().__init__()
        self.source = nn.Embedding(vocab_size, size.width)
        self.target = nn.Embedding(vocab_size, size.width)
        self.place = nn.Embedding(size.max_length, size.width)
        self.transformer = nn.Transformer(
            d_model=size.width,
            nhead=size.n_heads,
            num_encoder_layers=size.n_layers,
            num_decoder_layers=size.n_layers,
            dim_feedforward=size.feedforward_width,
            dropout=size.dropout,
            batch_first=True,
        )
        self.output = nn.Linear(size.width, vocab_size)

    def forward(self, source: Tensor, target: Tensor, pad_id: int) -> Tensor:
        """The logits of every target position."""
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1]).bool()
        hidden = self.transformer(
            self.source(source) + self.place(torch.arange(source.shape[1])),
            self.target(target) + self.place(torch.arange(target.shape[1])),
            tgt_mask=causal,
            src_key_padding_mask=source == pad_id,
            tgt_key_padding_mask=target == pad_id,
            memory_key_padding_mask=source == pad_id,
        )
        return self.output(hidden)


def naive_steps(store: TokenStore, size: Size, vocab_size: int, pad_id: int) -> Iterator[int]:
    """Steps of the loop that most people write; gives the real tokens of each."""
    torch.manual_seed(0)
    model = Naive(size, vocab_size).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
    criterion = nn.CrossEntropyLoss(ignore_index=pad_id)
    rng = np.random.default_rng(0)
    while True:
        rows = rng.integers(0, len(store), SENTENCES)
        source, source_mask = pad([store.ids("source", int(row)) for row in rows], pad_id=pad_id)
        target, target_mask = pad([store.ids("target", int(row)) for row in rows], pad_id=pad_id)
        wanted = torch.as_tensor(target)
        start = torch.full((len(rows), 1), pad_id)
        start[:] = 0
        logits = model(torch.as_tensor(source), torch.cat([start, wanted[:, :-1]], 1), pad_id)
        loss = criterion(logits.reshape(-1, vocab_size), wanted.reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        yield int(source_mask.sum() + target_mask.sum())


def our_steps(
    store: TokenStore,
    preset: str,
    tokenizer: object,
    pad_id: int,
    *,
    optimiser: str | None = None,
    shared: bool = False,
) -> Iterator[tuple[int, float]]:
    """Steps of ours; gives the real tokens and the operations of each."""
    overrides = ["train.steps=1000000", *([f"train.optimiser.kind={optimiser}"] if optimiser else [])]
    job = make_job(Task.TRANSLATE, preset=preset, overrides=overrides)
    network = make_network(job, tokenizer=tokenizer, labels=(), start=None)
    objective = TranslateObjective(decoder_start=pad_id, smoothing=job.train.label_smoothing)
    stepper = Stepper(network=network, objective=objective, settings=job.train, world=World())
    if shared:
        stepper._rows = None
    batches = Batches(store=store, max_tokens=TOKENS, seed=0)
    feed = RecordFeed(batches=batches, pad_ids={"source": pad_id, "target": pad_id})
    for number, (_, batch) in enumerate(feed.follow(Cursor(epoch=0, batch=0)), 1):
        result = stepper.step(number, [batch], n_steps=1_000_000)
        yield result.n_tokens, result.flops


def now() -> float:
    """Seconds by the clock; by that of this process, where it has one thread."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def peak(multiplied: Callable[[Tensor, Tensor], Tensor]) -> float:
    """Operations a second of a large product, now."""
    a, b = torch.ones(SIDE, SIDE), torch.ones(SIDE, SIDE)
    start = now()
    for _ in range(4):
        multiplied(a, b)
    return 4 * 2 * SIDE**3 / (now() - start)


def show_profile(steps: Iterator[tuple[int, float]], n_steps: int) -> None:
    """The operations that take most of the time, each without what it calls."""
    next(steps)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(n_steps):
            next(steps)
    spent = sorted(profile.key_averages(), key=lambda one: -one.self_cpu_time_total)
    total = sum(one.self_cpu_time_total for one in spent)
    for one in spent[:15]:
        print(f"{one.self_cpu_time_total / total:6.1%}  {one.key}")


def in_turns(
    theirs: Iterator[int] | None, ours: Iterator[tuple[int, float]], *, n_rounds: int, n_steps: int
) -> dict[str, list[float]]:
    """Tokens a second of both, and the share of two peaks that ours comes to, of every round.

    One is that of torch's own product, the other that of the fastest there is here, which may be the same.
    """
    rates: dict[str, list[float]] = {"naive": [], "clearhead": [], "share": [], "share of the fastest": []}
    products = {"share": torch.mm, "share of the fastest": product}
    for _ in range(n_rounds + 1):
        if theirs is not None:
            start = now()
            n_tokens = sum(next(theirs) for _ in range(n_steps))
            rates["naive"].append(n_tokens / (now() - start))
        before = {name: peak(multiplied) for name, multiplied in products.items()}
        start = now()
        done = [next(ours) for _ in range(n_steps)]
        taken = now() - start
        rates["clearhead"].append(sum(n for n, _ in done) / taken)
        for name, multiplied in products.items():
            rates[name].append(sum(flops for _, flops in done) / taken / max(before[name], peak(multiplied)))
    return {name: values[1:] for name, values in rates.items()}  # the first round only warms up


def main() -> None:
    """Prepare, take turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--preset", default="small")
    parser.add_argument("--threads", type=int, help="by default as many as there are cores")
    parser.add_argument("--ours", action="store_true", help="our loop alone")
    parser.add_argument("--profile", action="store_true", help="show where our time goes instead")
    parser.add_argument("--shared", action="store_true", help="share out every operation, not rows, to the threads")
    parser.add_argument("--optimiser", choices=("adamw", "muon"), help="by default the preset's")
    options = parser.parse_args()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    data = SHARED / "data/multi30k"
    if not data.is_dir():
        sys.exit(f"no multi30k at {data}: set CLEARHEAD_SHARED")
    source = Source(paths=(data / "train.en.gz", data / "train.de.gz"), task=Task.TRANSLATE)
    recipe = Recipe(task=Task.TRANSLATE)
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer = make_tokenizer(cleaned_records([source], recipe), task=Task.TRANSLATE)
        store = prepare([source], folder=Path(scratch), tokenizer=tokenizer, recipe=recipe).train
        pad_id = tokenizer.special.pad
        theirs = naive_steps(store, replace(SIZES[options.preset]), tokenizer.vocab_size, pad_id)
        ours = our_steps(store, options.preset, tokenizer, pad_id, optimiser=options.optimiser, shared=options.shared)
        if options.profile:
            show_profile(ours, options.steps)
            return
        rates = in_turns(None if options.ours else theirs, ours, n_rounds=options.rounds, n_steps=options.steps)
    middle = {name: statistics.median(values) for name, values in rates.items() if values}
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, preset {options.preset}")
    print(f"clearhead   {middle['clearhead']:8.0f} tokens/s, {middle['share']:.0%} of the peak of matrix products")
    print(f"            {middle['share of the fastest']:.0%} of the peak of the fastest product that torch has here")
    if "naive" in middle:
        print(f"naive loop  {middle['naive']:8.0f} tokens/s")
        print(f"ratio       {middle['clearhead'] / middle['naive']:8.2f}")


if __name__ == "__main__":
    main()
