"""`clearhead bench`: how fast a model runs on this computer.

Takes: a model, and how much to measure.
Gives: tokens a second of reading and of writing, or sentences a second of an encoder; medians of some rounds.
Uses:  engine, tasks.
Never: a figure that was not measured just now.
"""

import json
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from clearhead.cli.options import MOST_THREADS, Weights

if TYPE_CHECKING:
    from clearhead.tasks import Loaded

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_PROMPT = 16


@app.command(help="Measure how fast a model runs on this computer.")
def bench(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="An embedded model's name, a folder or a hub id.")],
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", min=1, max=4096, help="Tokens to write.")] = 32,
    batch: Annotated[
        list[int] | None, typer.Option("--batch", metavar="N", min=1, max=1024, help="Texts at once; 1 and 16.")
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", min=1, max=100, help="Runs of each.")] = 3,
    weights: Annotated[Weights, typer.Option("--weights", help="How weights are held.")] = Weights.FLOAT32,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, max=MOST_THREADS, help="All by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Load, warm up, measure and report."""
    import torch

    from clearhead.config import Family
    from clearhead.engine.kernels import ready
    from clearhead.tasks import Loaded

    if threads is not None:
        torch.set_num_threads(threads)
    loaded = Loaded.open(model, weights=weights.value)
    kernels = ready.load() is not None
    run = _reads if loaded.config.family is Family.ENCODER_ONLY else _writes
    found = {n: run(loaded, n, tokens, rounds) for n in batch or (1, 16)}
    if as_json:
        described = {"model": model, "weights": weights.value, "threads": torch.get_num_threads(), "kernels": kernels}
        typer.echo(json.dumps({**described, "batches": found}))
        return
    by = "kernels" if kernels else "PyTorch alone: Numba is not installed"
    typer.echo(f"{model}, {weights.value}, {torch.get_num_threads()} threads, {by}")
    for n, rates in found.items():
        shown = ", ".join(f"{name} {rate:.1f}/s" for name, rate in rates.items())
        typer.echo(f"batch {n:3}: {shown}")


def _writes(loaded: "Loaded", batch: int, tokens: int, rounds: int) -> dict[str, float]:
    """Tokens read and written a second, by a model that writes."""
    from clearhead.decoding import DecodingSettings
    from clearhead.engine import Request

    size = loaded.config.output_stack.embedding.vocab_size
    prompts = [tuple((7 * row + 13 * place) % size for place in range(_PROMPT)) for row in range(batch)]

    def run(n_new: int) -> Callable[[], object]:
        settings = DecodingSettings(max_new_tokens=n_new)
        requests = [Request(ids=ids, settings=settings) for ids in prompts]
        return lambda: loaded.engine.generate(requests)

    first, whole = _seconds(run(1), rounds), _seconds(run(tokens + 1), rounds)
    return {"tokens read": batch * _PROMPT / first, "tokens written": batch * tokens / max(whole - first, 1e-9)}


def _reads(loaded: "Loaded", batch: int, tokens: int, rounds: int) -> dict[str, float]:
    """Texts of so many tokens a second, by a model that reads."""
    from clearhead.engine import read
    from clearhead.text import Encoding

    size = loaded.config.output_stack.embedding.vocab_size
    rows = [tuple((7 * place + 13 * n) % size for place in range(tokens)) for n in range(batch)]
    texts = [
        Encoding(
            ids=row,
            pieces=("",) * tokens,
            offsets=((0, 0),) * tokens,
            special=(False,) * tokens,
            segments=(0,) * tokens,
        )
        for row in rows
    ]
    return {"texts": batch / _seconds(lambda: list(read(loaded.reader, texts)), rounds)}


def _seconds(run: Callable[[], object], rounds: int) -> float:
    run()
    taken: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)
