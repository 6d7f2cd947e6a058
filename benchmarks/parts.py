"""Our Transformer beside `torch.nn.Transformer` of the same sizes, in one run.

    python benchmarks/parts.py [--rounds 15] [--json FILE]

Prints interleaved medians of a forward pass and of a training step (forward, loss, backward, optimiser), and what
the probes cost while nobody listens: calls of a forward pass × the measured cost of one call.
Both models have the same embeddings, output layer, loss and optimiser; the stacks alone differ.
"""

import argparse
import json
import statistics
import sys
import time
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor, nn
from torch.nn import functional

import clearhead
from clearhead.config import Size, architecture, preset
from clearhead.nn import SinusoidalPosition
from clearhead.probe import heard, probe, scope

VOCAB_SIZE = 8000
BATCH, LENGTH = 32, 32
PAD = 0


class Peer(nn.Module):
    """`torch.nn.Transformer` with the embeddings and output layer of the original Transformer."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(VOCAB_SIZE, size.width) / size.width**0.5)
        self.position = SinusoidalPosition(width=size.width)
        self.dropout = nn.Dropout(size.dropout)
        self.transformer = nn.Transformer(
            d_model=size.width,
            nhead=size.n_heads,
            num_encoder_layers=size.n_layers,
            num_decoder_layers=size.n_layers,
            dim_feedforward=size.feedforward_width,
            dropout=size.dropout,
            batch_first=True,
        )
        # The original paper has no norm after the last block; torch adds one.
        self.transformer.encoder.norm = None
        self.transformer.decoder.norm = None
        self.scale = size.width**0.5

    def _embed(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1]).unsqueeze(0)
        return self.dropout(functional.embedding(ids, self.token) * self.scale + self.position(places))

    def forward(self, source: Tensor, target: Tensor, source_mask: Tensor) -> Tensor:
        """The logits of every target position."""
        past = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        closed = torch.zeros(source_mask.shape).masked_fill(~source_mask, -torch.inf)
        hidden = self.transformer(
            self._embed(source),
            self._embed(target),
            tgt_mask=past,
            tgt_is_causal=True,
            src_key_padding_mask=closed,
            memory_key_padding_mask=closed,
        )
        return functional.linear(hidden, self.token)


def make_runs(size: Size) -> tuple[dict[str, Callable[[], None]], dict[str, Callable[[], None]]]:
    """The forward passes and the training steps of both, on the same batch."""
    torch.manual_seed(0)
    ours = clearhead.build(architecture("original", size=size, vocab_size=VOCAB_SIZE))
    peer = Peer(size)
    source = torch.randint(1, VOCAB_SIZE, (BATCH, LENGTH))
    source_mask = torch.arange(LENGTH) < torch.randint(LENGTH // 2, LENGTH + 1, (BATCH, 1))
    target = torch.randint(1, VOCAB_SIZE, (BATCH, LENGTH + 1))
    calls = {
        "clearhead": (ours, lambda: ours(source, target[:, :-1], source_mask_BS=source_mask).logits_BTV),
        "torch.nn.Transformer": (peer, lambda: peer(source, target[:, :-1], source_mask)),
    }

    def forward(model: nn.Module, call: Callable[[], Tensor]) -> Callable[[], None]:
        def run() -> None:
            model.eval()
            with torch.inference_mode():
                call()

        return run

    def step(model: nn.Module, call: Callable[[], Tensor]) -> Callable[[], None]:
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

        def run() -> None:
            model.train()
            loss = functional.cross_entropy(call().flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()

        return run

    forwards = {name: forward(*pair) for name, pair in calls.items()}
    steps = {name: step(*pair) for name, pair in calls.items()}
    return forwards, steps


def interleaved(runs: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median seconds of each, measured in turns so that a busy moment of the machine hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def count_calls(run: Callable[[], None]) -> dict[str, int]:
    """How often a run calls each of the probe room's functions."""
    names = {function.__code__: function.__name__ for function in (probe, scope, heard)}
    calls = dict.fromkeys(names.values(), 0)

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in names:
            calls[names[frame.f_code]] += 1

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def probe_share(run: Callable[[], None], seconds: float) -> tuple[int, float]:
    """How many probe calls a forward pass makes, and which share of it they take unheard."""
    value = torch.zeros(1)

    def unheard_scope() -> None:
        with scope("self"):
            pass

    once = {
        "probe": lambda: probe("pattern", value),
        "heard": lambda: heard("score", "pattern"),
        "scope": unheard_scope,
    }
    number = 200_000
    calls = count_calls(run)
    cost = sum(calls[name] * timeit.timeit(call, number=number) / number for name, call in once.items())
    return sum(calls.values()), cost / seconds


def forward_of_one_token() -> Callable[[], None]:
    """The shortest forward pass that anybody would run: there the probes weigh most."""
    model = clearhead.build(preset("tiny", architecture="llama", vocab_size=VOCAB_SIZE))
    ids = torch.zeros(1, 1, dtype=torch.long)

    def run() -> None:
        with torch.inference_mode():
            model(ids)

    return run


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    # In inference torch skips padding in its encoder by a layout that it calls a prototype; that is its best.
    warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")
    sizes = {
        "small (3 × 256)": Size(n_layers=3, width=256, n_heads=4, feedforward_width=1024),
        "base (6 × 512)": Size(n_layers=6, width=512, n_heads=8, feedforward_width=2048),
    }
    print(f"batch {BATCH} × {LENGTH} + {LENGTH} tokens, {torch.get_num_threads()} threads, {options.rounds} rounds")
    print(f"{'':<18}{'':<16}{'clearhead':>12}{'nn.Transformer':>16}{'ratio':>8}")
    results: dict[str, dict[str, float]] = {}
    for name, size in sizes.items():
        forwards, steps = make_runs(size)
        forward, step = interleaved(forwards, options.rounds), interleaved(steps, options.rounds)
        n_calls, share = probe_share(forwards["clearhead"], forward["clearhead"])
        for label, medians in (("forward", forward), ("training step", step)):
            mine, theirs = medians.values()
            print(f"{name:<18}{label:<16}{mine * 1e3:>9.1f} ms{theirs * 1e3:>13.1f} ms{mine / theirs:>8.3f}")
            results.setdefault(name, {})[f"{label} ratio"] = mine / theirs
        print(f"{name:<18}unheard probes  {n_calls} calls, {share:.2%} of a forward pass")
        results[name]["probe share"] = share
    one_token = forward_of_one_token()
    n_calls, share = probe_share(one_token, interleaved({"one": one_token}, 10 * options.rounds)["one"])
    print(f"{'tiny, one token':<18}unheard probes  {n_calls} calls, {share:.2%} of a forward pass (the worst case)")
    results["tiny, one token"] = {"probe share": share}
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
