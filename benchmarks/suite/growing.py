"""What a longer text costs: reading it, the next token after it, and the cache that it fills."""

from collections.abc import Callable
from pathlib import Path

import peers
import torch
from timing import taking_turns

import clearhead
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request, WeightFormat

LENGTHS = (64, 128, 256, 512, 960)
NEW = 32


def measure(work: Path, *, rounds: int, clock: str) -> dict[str, object]:
    """Seconds of reading and of a further token by length, GPT-2 size, int8; and megabytes of the cache."""
    network = clearhead.load(peers.gpt2_folder(work)).network
    engine = Engine(network=network, weights=WeightFormat.INT8)
    generator = torch.Generator().manual_seed(0)
    ids = tuple(torch.randint(3, 1000, (max(LENGTHS),), generator=generator).tolist())

    def write(length: int, n_new: int) -> Callable[[], object]:
        request = Request(ids=ids[:length], settings=DecodingSettings(max_new_tokens=n_new))
        return lambda: engine.generate([request])

    reads = {str(length): write(length, 1) for length in LENGTHS}
    writes = {f"{length} and on": write(length, 1 + NEW) for length in LENGTHS}
    seconds = taking_turns(reads | writes, rounds=rounds, clock=clock)
    config = network.config.decoder
    of_a_position = 2 * 4 * config.n_layers * config.attention.kv_heads * config.head_width
    return {
        str(length): {
            "read_ms": round(1e3 * seconds[str(length)], 1),
            "next_token_ms": round(1e3 * (seconds[f"{length} and on"] - seconds[str(length)]) / NEW, 2),
            "cache_mb": round(of_a_position * length / 1e6, 1),
        }
        for length in LENGTHS
    }
