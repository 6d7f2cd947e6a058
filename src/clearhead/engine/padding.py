"""Texts of unequal lengths as one tensor."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def pad_left(
    rows: Sequence[Sequence[int]], *, pad_id: int = 0
) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"] | None]:
    """Rows that end together, so that each goes on where its text ends; no mask where all are of one length."""
    return _padded(rows, pad_id=pad_id, left=True)


def pad_right(
    rows: Sequence[Sequence[int]], *, pad_id: int = 0
) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"] | None]:
    """Rows that begin together; no mask where all are of one length."""
    return _padded(rows, pad_id=pad_id, left=False)


def _padded(rows: Sequence[Sequence[int]], *, pad_id: int, left: bool) -> tuple[Tensor, Tensor | None]:
    longest = max(len(row) for row in rows)
    if all(len(row) == longest for row in rows):
        return torch.tensor([list(row) for row in rows], dtype=torch.long), None
    lengths_B1 = torch.tensor([[len(row)] for row in rows])
    places_T = torch.arange(longest)
    mask_BT = places_T >= longest - lengths_B1 if left else places_T < lengths_B1
    ids_BT = torch.full((len(rows), longest), pad_id)
    ids_BT[mask_BT] = torch.tensor([index for row in rows for index in row], dtype=torch.long)
    return ids_BT, mask_BT
