"""Products of floats by the two libraries that torch brings, forwards and backwards: the numbers behind nn/product.py.

python benchmarks/products.py [--threads 2]

With one thread, by kernels too, which training uses where a thread has rows of its own.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch.nn import functional

from clearhead.engine.kernels.quick_products import quick_products
from clearhead.nn import product

SHAPES = (
    (64, 128, 128),
    (256, 128, 128),
    (1536, 128, 384),
    (1536, 384, 128),
    (4096, 256, 1024),
    (4096, 1024, 256),
    (512, 256, 8000),
    (2048, 1024, 1024),
)
ROUNDS = 25


def in_turns(*runs: Callable[[], object]) -> list[float]:
    """The median seconds of each."""
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, seconds in zip(runs, taken, strict=True):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds[2:]) for seconds in taken]


def main() -> None:
    """Time both, shape by shape; print billions of operations a second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    torch.set_num_threads(parser.parse_args().threads)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}")
    by = quick_products() if torch.get_num_threads() == 1 else None
    names = ["MKL", "oneDNN", *(["kernels"] if by is not None else [])]
    print(f"rows × inputs × outputs: forwards, to the rows, to the weights; GFLOP/s by {' and by '.join(names)}")
    for n_rows, n_inputs, n_outputs in SHAPES:
        x, weight, bias = torch.randn(n_rows, n_inputs), torch.randn(n_outputs, n_inputs), torch.randn(n_outputs)
        to_y = torch.randn(n_rows, n_outputs)
        runs: list[list[Callable[[], object]]] = [
            [partial(functional.linear, x, weight, bias), partial(product.multiply, x, weight, bias)],
            [partial(torch.mm, to_y, weight), partial(product.multiply, to_y, weight.t())],
            [partial(torch.mm, to_y.t(), x), partial(product.turned_product, to_y, x)],
        ]
        if by is not None:
            to_weight = torch.zeros_like(weight)
            own = [partial(by.forwards, x, weight, bias), partial(by.to_rows, to_y, weight)]
            for some, one in zip(runs, [*own, partial(by.add_to_weights, to_y, x, out=to_weight)], strict=True):
                some.append(one)
        with torch.no_grad():
            found = [in_turns(*some) for some in runs]
        rates = [[2e-9 * n_rows * n_inputs * n_outputs / seconds for seconds in some] for some in found]
        chosen = "oneDNN" if product.is_quick(x, weight) else "MKL"
        told = "   ".join(" ".join(f"{rate:5.0f}" for rate in some) for some in rates)
        print(f"{n_rows:5} × {n_inputs:4} × {n_outputs:4}   {told}   {chosen} is used", flush=True)


if __name__ == "__main__":
    main()
