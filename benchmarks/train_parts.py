"""Parts of a training step in two ways each, on one thread: what was tried for speed, kept or not.

    python benchmarks/train_parts.py

Milliseconds of the processor's own time, the best of a few rounds in turns, at the sizes of the preset `small`.
"""

import time
from collections.abc import Callable
from itertools import cycle
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

from clearhead.training.muon import _by_squares, _by_themselves

ROWS, LENGTH, WIDTH, HEADS, HIDDEN = 146, 14, 256, 4, 1024
ROUNDS = 6
JORDAN = (3.4445, -4.7750, 2.0315)
"""The polynomial of which five rounds are widely used."""


class Joined(Function):
    """Several linear maps of the same vectors as one product, forwards and backwards."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *layers: Tensor) -> tuple[Tensor, ...]:
        """The outputs of all layers, given as their weights and then their biases."""
        ctx.n_layers = len(layers) // 2
        weight, bias = torch.cat(layers[: ctx.n_layers]), torch.cat(layers[ctx.n_layers :])
        ctx.save_for_backward(x, weight)
        return functional.linear(x, weight, bias).chunk(ctx.n_layers, -1)

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, ...]:
        """The gradients of the vectors, the weights and the biases."""
        x, weight = ctx.saved_tensors
        gradient = torch.cat([each.flatten(0, 1) for each in outside], 1)
        to_weight, to_bias = gradient.T @ x.flatten(0, 1), gradient.sum(0)
        return ((gradient @ weight).view_as(x), *to_weight.chunk(ctx.n_layers), *to_bias.chunk(ctx.n_layers))


def attention(*, joined: bool) -> Callable[[], object]:
    """Queries, keys, values and what attention makes of them, with all gradients."""
    x = torch.randn(ROWS, LENGTH, WIDTH, requires_grad=True)
    weights = [(torch.randn(WIDTH, WIDTH) / WIDTH**0.5).requires_grad_() for _ in range(3)]
    biases = [torch.zeros(WIDTH, requires_grad=True) for _ in range(3)]
    outside = torch.randn(ROWS, LENGTH, WIDTH)

    def run() -> object:
        if joined:
            parts = Joined.apply(x, *weights, *biases)
        else:
            parts = [functional.linear(x, *layer) for layer in zip(weights, biases, strict=True)]
        heads = [each.unflatten(-1, (HEADS, -1)).transpose(1, 2) for each in parts]
        mixed = functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        return torch.autograd.grad(mixed, [x, *weights, *biases], outside)

    return run


def orthogonal(*shape: int, way: Callable[[Tensor], Tensor]) -> Callable[[], object]:
    """Matrices made orthogonal."""
    matrices = torch.randn(*shape)
    matrices /= torch.linalg.matrix_norm(matrices)[:, None, None]
    return lambda: way(matrices)


def by_fours(x: Tensor) -> Tensor:
    """As Muon does it: what four matrices need fits the cache."""
    return torch.cat([_by_themselves(few) for few in x.split(4)])


def five_rounds(x: Tensor) -> Tensor:
    """As Muon was published."""
    a, b, c = JORDAN
    for _ in range(5):
        square = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x


def residual(*, fused: bool) -> Callable[[], object]:
    """A sublayer's output, some of it dropped, added to the stream; in memory that has left the cache."""
    memory = cycle([[torch.randn(ROWS * LENGTH, WIDTH) for _ in range(3)] for _ in range(24)])

    def run() -> object:
        x, y, share = next(memory)
        return torch.addcmul(x, y, share) if fused else x + y * share

    return run


def bias(*, fused: bool) -> Callable[[], object]:
    """A product and its bias; fused is what torch does."""
    memory = cycle([torch.randn(ROWS * LENGTH, WIDTH) for _ in range(24)])
    weight, added = torch.randn(HIDDEN, WIDTH), torch.randn(HIDDEN)
    if fused:
        return lambda: functional.linear(next(memory), weight, added)
    return lambda: torch.mm(next(memory), weight.T).add_(added)


PARTS: dict[str, Callable[[], object]] = {
    "attention, three products": attention(joined=False),
    "attention, one product": attention(joined=True),
    "16 wide matrices, five rounds": orthogonal(16, WIDTH, HIDDEN, way=five_rounds),
    "16 wide matrices, four rounds": orthogonal(16, WIDTH, HIDDEN, way=_by_themselves),
    "16 wide matrices, by squares": orthogonal(16, WIDTH, HIDDEN, way=_by_squares),
    "16 square matrices, five rounds": orthogonal(16, WIDTH, WIDTH, way=five_rounds),
    "16 square matrices, four rounds": orthogonal(16, WIDTH, WIDTH, way=_by_themselves),
    "48 square matrices, at once": orthogonal(48, WIDTH, WIDTH, way=_by_themselves),
    "48 square matrices, by fours": orthogonal(48, WIDTH, WIDTH, way=by_fours),
    "residual, two passes": residual(fused=False),
    "residual, one pass": residual(fused=True),
    "product with its bias": bias(fused=True),
    "product, bias after it": bias(fused=False),
}


def main() -> None:
    """Take turns, print the best."""
    torch.set_num_threads(1)
    best = dict.fromkeys(PARTS, float("inf"))
    for _ in range(ROUNDS):
        for name, run in PARTS.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    for name, seconds in best.items():
        print(f"{name:32} {1e3 * seconds:8.2f} ms")


if __name__ == "__main__":
    main()
