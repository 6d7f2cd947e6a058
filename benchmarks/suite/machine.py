"""What the figures were measured on."""

import os
import platform
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

PEERS = ("torch", "numba", "transformers", "ctranslate2", "onnxruntime")
_BYTES = 256 * 2**20


def describe(*, threads: int, clock: str) -> dict[str, object]:
    """The processor, its memory, threads and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "clock": clock,
        "memory_limit_gb_s": round(memory_limit(clock=clock), 1),
        "load_when_measured": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PEERS},
    }


def memory_limit(*, clock: str, rounds: int = 7) -> float:
    """How fast memory can be read by all threads, in GB/s: a product that does nothing but read, the best of some."""
    from timing import CLOCKS  # noqa: PLC0415  (beside this file)

    from clearhead.engine.int8 import Int8Linear  # noqa: PLC0415
    from clearhead.engine.kernels import ready  # noqa: PLC0415

    ready.load()
    width = 4096
    values = np.random.default_rng(0).integers(-127, 128, (_BYTES // width, width)).astype(np.float32)
    layer = Int8Linear(weight=torch.from_numpy(values), bias=None)
    x = torch.ones(1, width)
    taken = []
    for _ in range(rounds):
        start = CLOCKS[clock]()
        layer(x)
        taken.append(CLOCKS[clock]() - start)
    sums = []
    whole = torch.ones(_BYTES // 4)
    for _ in range(rounds):
        start = CLOCKS[clock]()
        whole.sum()
        sums.append(CLOCKS[clock]() - start)
    n_threads = torch.get_num_threads() if clock == "cpu" else 1  # the processor's time counts every thread
    return _BYTES / min(*taken, *sums) / 1e9 * n_threads


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    flags = next((line for line in lines if line.startswith("flags")), "")
    vectors = [name for name in ("avx2", "avx512f", "avx512_vnni", "avx_vnni") if f" {name} " in f"{flags} "]
    return f"{names[0] if names else platform.processor() or platform.machine()} ({', '.join(vectors)})"
