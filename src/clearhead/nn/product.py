"""Matrix products, by the fastest that there is: two libraries that torch brings, or whoever offers to multiply.

    y = x W^T + b

torch multiplies floats by MKL, which leaves the widest registers alone where another maker built the processor. oneDNN
looks at what a processor can do, and not at its maker: there it multiplies twice as fast. Which of them it is depends
on the machine and on the size of a product alone, so that what is computed again comes out the same.
`python benchmarks/products.py` measures both. Inside `multiplied_by`, somebody else multiplies what they take.
"""

import platform
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

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


@runtime_checkable
class Products(Protocol):
    """Who multiplies matrices of floats in torch's stead."""

    def takes(self, weight: Tensor) -> bool:
        """Whether these weights are multiplied."""
        ...

    def forwards(self, x: Tensor, weight: Tensor, bias: Tensor | None, *, out: Tensor | None = None) -> Tensor:
        """Every row of x times the weights, and the bias."""
        ...

    def to_rows(self, to_y: Tensor, weight: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The gradient of x."""
        ...

    def add_to_weights(self, to_y: Tensor, x: Tensor, *, out: Tensor) -> None:
        """Adds the gradient of the weights to what is there."""
        ...


@contextmanager
def multiplied_by(products: Products | None) -> Generator[None]:
    """Lets somebody multiply what they take, until the block ends."""
    token = _by.set(products)
    try:
        yield
    finally:
        _by.reset(token)


def taken_by(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Products | None:
    """Who multiplies these, if it is not torch, which says what is wrong with those that do not fit."""
    by = _by.get()
    if by is None or not _is_large(x, weight) or not by.takes(weight):
        return None
    fits = bias is None or (bias.dtype is torch.float32 and bias.shape == weight.shape[:1])
    return by if fits and x.shape[-1] == weight.shape[1] else None


class Linear(nn.Linear):
    """A linear layer that multiplies by the faster library."""

    def forward(self, input: Float[Tensor, "... D"]) -> Float[Tensor, "... outputs"]:  # noqa: A002  (torch's name)
        """The product with every row, and the bias."""
        return product(input, self.weight, self.bias)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Every row of x times the weights, and the bias; with gradients."""
    by = taken_by(x, weight, bias)
    if by is None and not is_quick(x, weight):
        return functional.linear(x, weight, bias)
    rows = x.reshape(-1, x.shape[-1])
    learns = torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in (x, weight, bias))
    if by is not None:
        found = cast(Any, _ProductBy).apply(rows, weight, bias, by) if learns else by.forwards(rows, weight, bias)
        return found.view(*x.shape[:-1], len(weight))
    if learns:
        filled = cast(Any, _Product).apply(rows, weight, bias)  # which is untyped
        found = filled if len(filled) == len(rows) else filled[: len(rows)]
        return found.view(*x.shape[:-1], len(weight))
    return multiply(rows, weight, bias).view(*x.shape[:-1], len(weight))


def is_quick(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN multiplies these faster."""
    return _is_large(x, weight) and _is_quicker_here()


def _is_large(x: Tensor, weight: Tensor) -> bool:
    """Whether these are floats, and worth a longer call."""
    plain = x.dtype is torch.float32 and weight.dtype is torch.float32 and x.device.type == "cpu"
    return plain and x.numel() * len(weight) >= _LARGE


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


class _ProductBy(Function):
    """The product and its gradients, by somebody."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, by: Products) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.by = by
        return by.forwards(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Any) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, weight = ctx.saved_tensors
        to_y: Tensor = outside[0]
        by: Products = ctx.by
        wants_x, wants_weight, wants_bias, _ = ctx.needs_input_grad
        to_weight = weight.new_zeros(weight.shape) if wants_weight else None
        if to_weight is not None:
            by.add_to_weights(to_y, x, out=to_weight)
        return by.to_rows(to_y, weight) if wants_x else None, to_weight, to_y.sum(0) if wants_bias else None, None


_by: ContextVar[Products | None] = ContextVar("by", default=None)


@cache
def _is_quicker_here() -> bool:
    wide = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return wide and torch.backends.mkldnn.is_available() and torch.backends.mkl.is_available() and _maker() == "AMD"


def _maker() -> str:
    told = Path("/proc/cpuinfo")
    text = told.read_text(encoding="utf-8", errors="replace")[:2000] if told.is_file() else platform.processor()
    return "AMD" if "AuthenticAMD" in text else ""
