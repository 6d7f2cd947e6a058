"""`clearhead doctor`: what this computer can do, and what is installed.

Takes: nothing.
Gives: versions, processor features, threads, memory bandwidth and the speed of matrix products, and models.
Uses:  weights; torch, to measure.
Never: a figure that was not measured just now.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_NEEDED = ("torch", "tokenizers", "numpy", "pydantic", "huggingface_hub")
_OPTIONAL = ("transformers", "ctranslate2", "onnxruntime", "numba", "sentencepiece", "ray")
_FEATURES = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "sve")
_MEGABYTES = 256
_SIDE = 1024


@app.command(help="Say what this computer can do, and what is installed.")
def doctor(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """Look, measure, and report."""
    found = _report()
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    width = max(map(len, found))
    for name, value in found.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"{name.ljust(width)}  {'–' if shown in ('', None) else shown}")


def _report() -> dict[str, str | list[str] | None]:
    import torch

    from clearhead import __version__
    from clearhead.weights import embedded_models

    names = ["clearhead", *_NEEDED, *_OPTIONAL]
    versions = {name: __version__ if name == "clearhead" else _version(name) for name in names}
    return {
        "clearhead": versions["clearhead"],
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "libraries": [f"{name} {versions[name] or 'missing'}" for name in _NEEDED],
        "optional": [f"{name} {versions[name]}" for name in _OPTIONAL if versions[name]],
        "not installed": [name for name in _OPTIONAL if not versions[name]],
        "processor": _processor().get("model name"),
        "features": [name for name in _FEATURES if name in _flags()],
        "cores": f"{os.cpu_count()}, of which this process may use {_usable()}",
        "threads": f"{torch.get_num_threads()} for products",
        "memory": _memory(),
        "bandwidth": f"{_bandwidth():.1f} GB/s read",
        "matrix products": f"{_products():.0f} GFLOP/s in float32",
        "device": "cuda" if torch.cuda.is_available() else "cpu",
        "embedded models": list(embedded_models()),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> dict[str, str]:
    """What the system says of its first processor; empty where it says it elsewhere."""
    path = Path("/proc/cpuinfo")
    if not path.is_file():
        return {"model name": platform.processor()}
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _flags() -> list[str]:
    said = _processor()
    return said.get("flags", said.get("Features", "")).split()  # Intel's and AMD's word, and ARM's


def _usable() -> int | None:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()


def _memory() -> str | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"


def _bandwidth() -> float:
    """How fast memory is summed, as reading weights is; the best of a few."""
    import torch

    values = torch.ones(_MEGABYTES * 2**20 // 4)
    return values.numel() * 4 / _fastest(values.sum) / 1e9


def _products() -> float:
    """How fast square matrices are multiplied; the best of a few."""
    import torch

    left, right = torch.ones(_SIDE, _SIDE), torch.ones(_SIDE, _SIDE)
    return 2 * _SIDE**3 / _fastest(lambda: left @ right) / 1e9


def _fastest(work: Callable[[], object], times: int = 5) -> float:
    work()
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)
