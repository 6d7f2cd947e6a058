"""What the figures were measured on."""

import os
import platform
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

PEERS = ("torch", "numba", "transformers", "ctranslate2", "onnxruntime", "llama-cpp-python")
BYTES_READ = 256 * 2**20


def describe(*, threads: int, clock: str) -> dict[str, object]:
    """The processor, threads and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "clock": clock,
        "load_when_measured": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": {name: version for name in PEERS if (version := _version(name))},
    }


def _version(name: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def readers() -> dict[str, Callable[[], object]]:
    """Two ways of doing nothing but read memory, by all threads: a product of one row, and a sum."""
    from clearhead.engine.int8 import Int8Linear  # noqa: PLC0415

    width = 4096
    values = np.random.default_rng(0).integers(-127, 128, (BYTES_READ // width, width)).astype(np.float32)
    layer, x = Int8Linear(weight=torch.from_numpy(values), bias=None), torch.ones(1, width)
    whole = torch.ones(BYTES_READ // 4)
    return {"memory, by a product": lambda: layer(x), "memory, by a sum": whole.sum}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    flags = next((line for line in lines if line.startswith("flags")), "")
    vectors = [name for name in ("avx2", "avx512f", "avx512_vnni", "avx_vnni") if f" {name} " in f"{flags} "]
    return f"{names[0] if names else platform.processor() or platform.machine()} ({', '.join(vectors)})"
