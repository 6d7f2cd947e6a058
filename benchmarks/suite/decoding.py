"""Decoding: a GPT-2 of the published size, greedy, the same weights and prompts for all."""

from collections.abc import Callable
from pathlib import Path

import ctranslate2
import peers
import torch
import transformers
from timing import taking_turns

import clearhead
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request, WeightFormat
from clearhead.engine.kernels import ready
from clearhead.probe import Recorder, listen

PROMPT = 8
PATTERNS = "*.pattern"


def prompts(batch: int) -> list[list[int]]:
    """Random prompts."""
    generator = torch.Generator().manual_seed(batch)
    return torch.randint(3, 1000, (batch, PROMPT), generator=generator).tolist()


def ours(engine: Engine, batch: int, n_tokens: int) -> Callable[[], list[list[int]]]:
    """A run of the engine."""
    settings = DecodingSettings(max_new_tokens=n_tokens)
    requests = [Request(ids=tuple(row), settings=settings) for row in prompts(batch)]
    return lambda: [list(reply.best.ids) for reply in engine.generate(requests)]


def with_ctranslate2(generator: ctranslate2.Generator, batch: int, n_tokens: int) -> Callable[[], list[list[int]]]:
    """A run of CTranslate2."""
    words = [[f"<w{index}>" for index in row] for row in prompts(batch)]

    def run() -> list[list[int]]:
        found = generator.generate_batch(
            words, max_length=n_tokens, min_length=n_tokens, include_prompt_in_result=False, sampling_topk=1
        )
        return [one.sequences_ids[0] for one in found]

    return run


def with_transformers(folder: Path, batch: int, n_tokens: int) -> Callable[[], list[list[int]]]:
    """A run of the reference."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None
    ids = torch.tensor(prompts(batch))

    def run() -> list[list[int]]:
        with torch.no_grad():
            found = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=n_tokens, do_sample=False, pad_token_id=0
            )
        return found[:, PROMPT:].tolist()

    return run


def measure(work: Path, *, batch: int, n_tokens: int, rounds: int, clock: str, threads: int) -> dict[str, object]:
    """Tokens a second of all, and how many rows are equal."""
    folder = peers.gpt2_folder(work)
    network = clearhead.load(folder).network
    engines = {kind.value: Engine(network=network, weights=kind) for kind in WeightFormat}
    runs: dict[str, Callable[[], list[list[int]]]] = {}
    for kind, engine in engines.items():
        runs[f"clearhead {kind}"] = ours(engine, batch, n_tokens)
        runs[f"ctranslate2 {kind}"] = with_ctranslate2(
            peers.generator(folder, work, kind, threads=threads), batch, n_tokens
        )
    runs["transformers float32"] = with_transformers(folder, batch, n_tokens)
    found = {name: run() for name, run in runs.items()}
    with ready.by_parts():
        by_parts = runs["clearhead int8"]()
    seconds = taking_turns(runs, rounds=rounds, clock=clock)
    rate = {name: batch * n_tokens / taken for name, taken in seconds.items()}
    return {
        "tokens_per_second": {name: round(value, 1) for name, value in rate.items()},
        "int8_ratio": round(rate["clearhead int8"] / rate["ctranslate2 int8"], 2),
        "float32_ratio": round(rate["clearhead float32"] / rate["ctranslate2 float32"], 2),
        "int8_mb": round(sum(one.numel() for one in network.parameters()) / 1e6, 1),
        "int8_rows_equal_by_parts": sum(a == b for a, b in zip(found["clearhead int8"], by_parts, strict=True)),
        "float32_rows_equal_to_transformers": sum(
            a == b for a, b in zip(found["clearhead float32"], found["transformers float32"], strict=True)
        ),
        "rows": batch,
    }


def measure_recording(work: Path, *, n_tokens: int, rounds: int, clock: str) -> dict[str, object]:
    """What recording every pattern costs."""
    network = clearhead.load(peers.gpt2_folder(work)).network
    found: dict[str, object] = {}
    for kind in WeightFormat:
        plain = ours(Engine(network=network, weights=kind), 1, n_tokens)

        def recorded(plain: Callable = plain) -> None:
            with listen(Recorder(PATTERNS)):
                plain()

        seconds = taking_turns({"plain": plain, "recorded": recorded}, rounds=rounds, clock=clock)
        found[kind.value] = round(seconds["recorded"] / seconds["plain"], 3)
    return found
