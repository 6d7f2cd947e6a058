"""From how many rows on PyTorch multiplies floats faster than the kernel: the numbers behind `products.py`.

python benchmarks/suite/crossover.py [--threads 2] [--clock wall]
"""

import argparse

import torch
from timing import taking_turns
from torch.nn import functional

from clearhead.engine.int8 import Int8Linear
from clearhead.engine.kernels import ready
from clearhead.engine.kernels.rows_of import multiply
from clearhead.engine.kernels.tables import Product

SHAPES = ((768, 768), (3072, 768), (768, 3072), (50257, 768), (192, 192), (192, 768), (9003, 192))
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def main() -> None:
    """Time both, shape by shape; print milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    assert ready.load() is not None
    for shape in SHAPES:
        weight = torch.randn(shape)
        product, whole = Product.float32(weight, None), Int8Linear(weight=weight, bias=None)
        for n_rows in ROWS:
            x = torch.randn(n_rows, shape[1])
            with torch.inference_mode():
                runs = {
                    "kernel": lambda x=x, product=product: multiply(x, product),
                    "torch": lambda x=x, weight=weight: functional.linear(x, weight),
                    "torch, weights left": lambda x=x, weight=weight: weight @ x.t(),
                    "int8 kernel": lambda x=x, whole=whole: whole(x),
                }
                seconds = taking_turns(runs, rounds=9, clock=options.clock)
            told = "  ".join(f"{name} {1e3 * taken:7.3f}" for name, taken in seconds.items())
            print(f"{shape[0]:6}×{shape[1]:<5} {n_rows:4} rows  {told}  ms", flush=True)


if __name__ == "__main__":
    main()
