"""Tensors as plain numbers, with their types said once (torch leaves them open)."""

from typing import cast

from torch import Tensor

__all__ = ["floats", "integers"]


def floats(values: Tensor) -> list[float]:
    """The values of a vector of real numbers."""
    return cast("list[float]", values.tolist())  # pyright: ignore[reportUnknownMemberType]


def integers(values: Tensor) -> list[int]:
    """The values of a vector of integers."""
    return cast("list[int]", values.tolist())  # pyright: ignore[reportUnknownMemberType]
