"""Decoding beside `transformers.generate`, in one run: greedy, float32, the same models, prompts and lengths.

    python benchmarks/decode.py [--rounds 5] [--tokens 64] [--json FILE]

Runs take turns, so that a busy machine slows both; the ratio of the medians is what counts. The models are the
published stories15M, where the shared folder has it, and a GPT-2 of the published size with random weights.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import transformers

import clearhead
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
BATCHES = (1, 16)
PROMPT_LENGTH = 8


def folders(scratch: Path) -> Iterator[tuple[str, Path]]:
    """The models to compare, by name."""
    stories = SHARED / "models/stories15M"
    if stories.is_dir():
        yield "stories15M", stories
    else:
        print(f"no stories15M at {stories}: set CLEARHEAD_SHARED", file=sys.stderr)
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(transformers.GPT2Config()).save_pretrained(scratch)
    yield "GPT-2 size, random", scratch


def ours(folder: Path, prompts: torch.Tensor, n_tokens: int) -> Callable[[], list[list[int]]]:
    """A run of the engine."""
    engine = Engine(network=clearhead.load(folder).network)
    settings = DecodingSettings(max_new_tokens=n_tokens)
    requests = [Request(ids=tuple(row), settings=settings) for row in prompts.tolist()]
    return lambda: [list(reply.best.ids) for reply in engine.generate(requests)]


def theirs(folder: Path, prompts: torch.Tensor, n_tokens: int) -> Callable[[], list[list[int]]]:
    """A run of the reference."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None

    def run() -> list[list[int]]:
        with torch.no_grad():
            found = model.generate(
                prompts,
                attention_mask=torch.ones_like(prompts),
                max_new_tokens=n_tokens,
                do_sample=False,
                pad_token_id=0,
            )
        return found[:, prompts.shape[1] :].tolist()

    return run


def compare(name: str, folder: Path, batch: int, *, n_tokens: int, rounds: int) -> dict[str, object]:
    """Both in turn; the median of each."""
    generator = torch.Generator().manual_seed(batch)
    prompts = torch.randint(3, 1000, (batch, PROMPT_LENGTH), generator=generator)
    runs = {"clearhead": ours(folder, prompts, n_tokens), "transformers": theirs(folder, prompts, n_tokens)}
    found = {who: run() for who, run in runs.items()}  # warm, and equal
    same = sum(a == b for a, b in zip(*found.values(), strict=True))
    seconds: dict[str, list[float]] = {who: [] for who in runs}
    for _ in range(rounds):
        for who, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[who].append(time.perf_counter() - start)
    rate = {who: batch * n_tokens / statistics.median(taken) for who, taken in seconds.items()}
    ratio = rate["clearhead"] / rate["transformers"]
    print(
        f"{name:20} batch {batch:2}  clearhead {rate['clearhead']:7.1f}  transformers {rate['transformers']:7.1f} "
        f"tokens/s  ratio {ratio:.2f}  equal rows {same}/{batch}"
    )
    return {"model": name, "batch": batch, **rate, "ratio": ratio, "equal": same}


def main() -> None:
    """Compare, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.get_num_threads()} threads")
    with tempfile.TemporaryDirectory() as scratch:
        results = [
            compare(name, folder, batch, n_tokens=options.tokens, rounds=options.rounds)
            for name, folder in folders(Path(scratch))
            for batch in BATCHES
        ]
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
