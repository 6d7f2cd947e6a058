"""Characters of Shakespeare to 1.88 nats, beside nanoGPT's recipe for a laptop, in turns in one run.

    python benchmarks/characters.py [--rounds 2]

The recipe: four layers, four heads, width 128, context 64, batches of 12, 2,000 steps of AdamW with a cosine, no
dropout; as its author published it for a computer without a GPU, written anew here. Ours is one command, printed
below, which ends as soon as the loss on the last tenth of the text is 1.88; reading, tokenising and start-up are in its
time, and not in the recipe's. The ratio is that of the sums of all rounds.
"""

import argparse
import gzip
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
GOAL = 1.88
LAYERS, HEADS, WIDTH, CONTEXT, BATCH, STEPS = 4, 4, 128, 64, 12, 2000
RATE, LEAST_RATE, WARMUP, EVALUATE_EVERY, EVALUATIONS = 1e-3, 1e-4, 100, 250, 20
OURS = (
    "--task language-model --preset tiny --tokenizer.kind character --data.split.tail true --data.split.share 0.1 "
    "--model.architecture llama --model.n_layers 4 --model.width 128 --model.n_heads 4 "
    "--model.feedforward_width 384 --model.max_length 64 --train.batch.window 64 --train.batch.max_tokens 1536 "
    "--train.optimiser.kind muon --train.lr 6e-3 --train.steps 2000 --train.schedule.warmup_steps 20 "
    "--train.dropout.residual 0 --train.evaluate_every 200 --train.average.kind ema --train.average.decay 0.98 "
    "--evaluation.samples 0 --train.save_every 3600"
)


class Block(nn.Module):
    """One layer of GPT-2 without biases."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH, bias=False), nn.LayerNorm(WIDTH, bias=False)
        self.together = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The stream after it."""
        batch, length, _ = x.shape
        heads = [
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.together(self.first(x)).split(WIDTH, dim=2)
        ]
        mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class Recipe(nn.Module):
    """The whole model; the output layer is the token table."""

    def __init__(self, n_characters: int) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(n_characters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                deep = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / (math.sqrt(2 * LAYERS) if deep else 1))

    def forward(self, ids: Tensor) -> Tensor:
        """The logits of every position."""
        x = self.token(ids) + self.place(torch.arange(ids.shape[1]))
        return functional.linear(self.norm(self.blocks(x)), self.token.weight)


def drawn(ids: Tensor) -> tuple[Tensor, Tensor]:
    """A batch of windows, and what follows each character."""
    starts = torch.randint(len(ids) - CONTEXT - 1, (BATCH,))
    windows = torch.stack([ids[start : start + CONTEXT + 1] for start in starts.tolist()])
    return windows[:, :-1], windows[:, 1:]


def loss_of(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The mean loss of a batch."""
    return functional.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())


@torch.no_grad()
def whole_loss(model: nn.Module, ids: Tensor) -> float:
    """The loss over all of a text, window by window."""
    n = (len(ids) - 1) // CONTEXT * CONTEXT
    inputs, wanted = ids[:n].view(-1, CONTEXT), ids[1 : n + 1].view(-1, CONTEXT)
    parts = [loss_of(model, pair) * len(pair[0]) for pair in zip(inputs.split(256), wanted.split(256), strict=True)]
    return float(sum(parts)) / len(inputs)


def run_recipe(text: str) -> tuple[float, float]:
    """Seconds and final loss of the recipe."""
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    train, held = ids[: int(0.9 * len(ids))], ids[int(0.9 * len(ids)) :]
    torch.manual_seed(1337)
    model = Recipe(len(letters))
    groups = [
        {"params": [p for p in model.parameters() if p.ndim == 2], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99))
    start = time.perf_counter()
    for step in range(STEPS):
        share = 0.5 * (1 + math.cos(math.pi * max(0, step - WARMUP) / (STEPS - WARMUP)))
        rate = RATE * (step + 1) / (WARMUP + 1) if step < WARMUP else LEAST_RATE + share * (RATE - LEAST_RATE)
        for group in optimiser.param_groups:
            group["lr"] = rate
        if step % EVALUATE_EVERY == 0:
            with torch.no_grad():
                for side in (train, held):
                    [loss_of(model, drawn(side)) for _ in range(EVALUATIONS)]
        optimiser.zero_grad(set_to_none=True)
        loss_of(model, drawn(train)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return time.perf_counter() - start, whole_loss(model, held)


def run_ours(path: Path, folder: Path) -> tuple[float, str]:
    """Seconds of the whole command, and what it printed."""
    command = [sys.executable, "-m", "clearhead", "train", f"{path}@document=yes", "--out", str(folder)]
    command += [*OURS.split(), "--train.stop_at", str(GOAL)]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (our own command)
    if done.returncode:
        sys.exit(done.stderr)
    return time.perf_counter() - start, done.stdout


def main() -> None:
    """Run both, print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, choices=range(1, 10), metavar="N")
    options = parser.parse_args()
    path = SHARED / "data/text/shakespeare.txt.gz"
    if not path.is_file():
        sys.exit(f"no text at {path}: set CLEARHEAD_SHARED")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        text = stream.read()
    print("clearhead train", path.name + "@document=yes", "--out", "RUN", OURS, "--train.stop_at", GOAL)
    ours, theirs = 0.0, 0.0
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as scratch:
            seconds, said = run_ours(path, Path(scratch) / "run")
        print(said, f"clearhead, reading, tokenising and start-up included: {seconds:.0f} s", sep="", flush=True)
        ours += seconds
        seconds, loss = run_recipe(text)
        print(f"the recipe: {seconds:.0f} s, {loss:.4f} nats a character", flush=True)
        theirs += seconds
    print(f"ratio {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
