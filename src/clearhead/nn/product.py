"""Matrix products, by the faster of the two libraries that torch brings.

    y = x W^T + b

torch multiplies floats by MKL, which leaves the widest registers alone where another maker built the processor. oneDNN
looks at what a processor can do, and not at its maker: there it multiplies twice as fast. Which of them it is depends
on the machine and on the size of a product alone, so that what is computed again comes out the same.
`python benchmarks/products.py` measures both.
"""

import platform
from functools import cache
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

_LARGE = 2**22
"""Multiplications from which on a product is worth the longer call."""
_STEP = 64
"""oneDNN compiles a product for every number of rows, which takes time and half a megabyte: few numbers must do."""


class Linear(nn.Linear):
    """A linear layer that multiplies by the faster library."""

    def forward(self, input: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:  # noqa: A002  (torch's name)
        """The product with every row, and the bias."""
        return product(input, self.weight, self.bias)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Every row of x times the weights, and the bias; with gradients."""
    if not is_quick(x, weight):
        return functional.linear(x, weight, bias)
    rows = x.reshape(-1, x.shape[-1])
    learns = any(each is not None and each.requires_grad for each in (x, weight, bias))
    if torch.is_grad_enabled() and learns:
        filled = cast(Any, _Product).apply(rows, weight, bias)  # which is untyped
        found = filled if len(filled) == len(rows) else filled[: len(rows)]
        return found.view(*x.shape[:-1], len(weight))
    return multiply(rows, weight, bias).view(*x.shape[:-1], len(weight))


def is_quick(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN multiplies these faster."""
    large = x.numel() * len(weight) >= _LARGE
    plain = x.dtype is torch.float32 and weight.dtype is torch.float32 and x.device.type == "cpu"
    return large and plain and _is_quicker_here()


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product of two matrices by oneDNN, the second of them turned over; without gradients."""
    return _multiply(_filled(x), weight, bias)[: len(x)]


def turned_product(left: Tensor, right: Tensor) -> Tensor:
    """The product of the first matrix, turned over, with the second, by oneDNN; without gradients."""
    left, right = _filled(left), _filled(right)
    if left.shape[1] <= right.shape[1]:  # it is faster with few long rows than with many short ones
        return _multiply(left.t(), right.t())
    return _multiply(right.t(), left.t()).t()


def _multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    bias = bias if bias is None else bias.contiguous()
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _filled(x: Tensor) -> Tensor:
    """A matrix with rows of zeros added, so that few numbers of rows occur."""
    missing = -len(x) % _STEP
    return functional.pad(x, (0, 0, 0, missing)) if missing else x


class _Product(Function):
    """The product and its gradients; whoever asks cuts the rows off that fill it up."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _multiply(_filled(x), weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Any) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, weight = ctx.saved_tensors
        to_y: Tensor = outside[0]
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        to_x = _multiply(to_y, weight.t())[: len(x)] if wants_x else None
        to_weight = turned_product(to_y, x) if wants_weight else None
        return to_x, to_weight, to_y.sum(0) if wants_bias else None


@cache
def _is_quicker_here() -> bool:
    wide = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return wide and torch.backends.mkldnn.is_available() and torch.backends.mkl.is_available() and _maker() == "AMD"


def _maker() -> str:
    told = Path("/proc/cpuinfo")
    text = told.read_text(encoding="utf-8", errors="replace")[:2000] if told.is_file() else platform.processor()
    return "AMD" if "AuthenticAMD" in text else ""
