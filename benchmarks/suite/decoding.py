"""Decoding: a GPT-2 of the published size, greedy, the same weights and prompts for all."""

from collections.abc import Callable
from pathlib import Path

import ctranslate2
import llama_cpp_peer as llama_cpp
import machine
import peers
import torch
import transformers
from timing import taking_turns

import clearhead
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request, WeightFormat
from clearhead.engine.kernels import ready

PROMPT = 8
CHECKED = 8
"""So many ids of every row are compared with what PyTorch alone computes, which is slow."""


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


def measure(
    work: Path, folder: Path | None = None, *, batch: int, n_tokens: int, rounds: int, clock: str, threads: int
) -> dict[str, object]:
    """Tokens a second of all, and how many rows are equal; without a folder, of a GPT-2 with random weights."""
    with_peer = folder is None  # CTranslate2 is given the largest model alone
    folder = folder or peers.gpt2_folder(work)
    network = clearhead.load(folder).network
    engines = {kind.value: Engine(network=network, weights=kind) for kind in WeightFormat}
    runs: dict[str, Callable[[], list[list[int]]]] = {}
    for kind, engine in engines.items():
        runs[f"clearhead {kind}"] = ours(engine, batch, n_tokens)
        if with_peer:
            peer = peers.generator(folder, work, kind, threads=threads)
            runs[f"ctranslate2 {kind}"] = with_ctranslate2(peer, batch, n_tokens)
        if with_peer and llama_cpp.AVAILABLE:
            path = llama_cpp.gguf_file(folder, work, kind)
            runs[f"llama.cpp {kind}"] = llama_cpp.greedy(path, prompts(batch), n_tokens=n_tokens, threads=threads)
    runs["transformers float32"] = with_transformers(folder, batch, n_tokens)
    found = {name: run() for name, run in runs.items()}
    # How fast memory can be read swings on a shared machine: it is asked in turn with those who read it.
    reading = machine.readers() if with_peer and batch == 1 else {}
    seconds = taking_turns({**runs, **reading}, rounds=rounds, clock=clock)
    rate = {name: batch * n_tokens / seconds[name] for name in runs}
    # The processor's time counts every thread.
    n_clocks = threads if clock == "cpu" else 1
    limits = [n_clocks * machine.BYTES_READ / seconds[name] / 1e9 for name in reading]
    with ready.by_parts():
        by_parts = ours(engines["int8"], batch, CHECKED)()
    ids = [row[:CHECKED] for row in found["clearhead int8"]]
    theirs = {kind: f"ctranslate2 {kind}" if with_peer else "transformers float32" for kind in engines}
    return {
        "tokens_per_second": {name: round(value, 1) for name, value in rate.items()},
        **{f"{kind}_ratio": round(rate[f"clearhead {kind}"] / rate[theirs[kind]], 2) for kind in engines},
        "spread": seconds.spread,
        **({"memory_gb_s": round(max(limits), 1)} if limits else {}),
        "int8_mb": round(sum(one.numel() for one in network.parameters()) / 1e6, 1),
        "checked": CHECKED,
        "int8_rows_equal_by_parts": sum(a == b for a, b in zip(ids, by_parts, strict=True)),
        "float32_rows_equal_to_transformers": sum(
            a == b for a, b in zip(found["clearhead float32"], found["transformers float32"], strict=True)
        ),
        "rows": batch,
        **({} if "llama.cpp int8" not in runs else _beside_llama_cpp(rate, found)),
    }


def _beside_llama_cpp(rate: dict[str, float], found: dict[str, list[list[int]]]) -> dict[str, object]:
    """How many times as fast as llama.cpp, and how many rows begin alike; its cache is of 16 bits."""
    rows = zip(found["clearhead float32"], found["llama.cpp float32"], strict=True)
    return {
        "times_llama_cpp": {
            kind.value: round(rate[f"clearhead {kind.value}"] / rate[f"llama.cpp {kind.value}"], 2)
            for kind in WeightFormat
        },
        "float32_rows_begin_as_llama_cpp": sum(a[:CHECKED] == b[:CHECKED] for a, b in rows),
    }


def measure_prefill(work: Path, *, n_tokens: int, rounds: int, clock: str) -> dict[str, object]:
    """Seconds until the first token after a long text."""
    folder = peers.gpt2_folder(work)
    network = clearhead.load(folder).network
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(3, 1000, (1, n_tokens), generator=generator)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    request = [Request(ids=tuple(ids[0].tolist()), settings=DecodingSettings(max_new_tokens=1))]
    engines = {kind.value: Engine(network=network, weights=kind) for kind in WeightFormat}

    def reference() -> None:
        with torch.no_grad():
            model(ids, logits_to_keep=1)

    runs: dict[str, Callable[[], object]] = {
        f"clearhead {kind}": lambda engine=engine: engine.generate(request) for kind, engine in engines.items()
    }
    runs["transformers float32"] = reference
    seconds = taking_turns(runs, rounds=rounds, clock=clock)
    return {
        "seconds": {name: round(taken, 3) for name, taken in seconds.items()},
        "spread": seconds.spread,
        "tokens": n_tokens,
    }
