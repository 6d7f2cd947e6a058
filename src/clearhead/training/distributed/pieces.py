"""Tensors of which each process holds a piece: whole, a piece, and back.

A tensor that is not divided is its own whole and its own only piece, so that whoever works on tensors of either kind
need not ask. FSDP2 divides along the first axis, as `torch.chunk` does.
"""

from typing import Any, cast

from torch import Tensor

__all__ = ["is_divided", "local", "piece", "row_here", "whole"]


def is_divided(tensor: Tensor) -> bool:
    """Whether this process holds a piece alone."""
    return hasattr(tensor, "full_tensor")


def whole(tensor: Tensor) -> Tensor:
    """The tensor itself, put together where it is divided; all processes must ask."""
    return cast(Any, tensor).full_tensor() if is_divided(tensor) else tensor


def local(tensor: Tensor) -> Tensor:
    """What this process holds; memory is shared."""
    return cast(Any, tensor).to_local() if is_divided(tensor) else tensor


def piece(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor divided as another one is."""
    if not is_divided(like):
        return tensor
    from torch.distributed.tensor import DTensor  # noqa: PLC0415  (only where something is divided)

    first, n_rows = _place(like)
    mine = tensor[first : first + n_rows].to(local(like).device, copy=True)
    mesh, placements = cast(Any, like).device_mesh, cast(Any, like).placements
    return DTensor.from_local(
        mine, mesh, placements, run_check=False, shape=tensor.shape, stride=tensor.contiguous().stride()
    )


def row_here(tensor: Tensor, row: int) -> int | None:
    """Where a row of the whole lies in what this process holds; None where another holds it."""
    if not is_divided(tensor):
        return row
    first, n_rows = _place(tensor)
    return row - first if first <= row < first + n_rows else None


def _place(tensor: Tensor) -> tuple[int, int]:
    """The first row that this process holds, and how many."""
    mesh = cast(Any, tensor).device_mesh
    each = -(-tensor.shape[0] // mesh.size())
    return mesh.get_local_rank() * each, local(tensor).shape[0]
