"""Texts of unequal lengths as one tensor."""

from array import array
from collections.abc import Sequence
from itertools import chain

import numpy as np
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
        return _end_to_end(rows).view(len(rows), longest), None
    lengths_B1 = torch.tensor([[len(row)] for row in rows])
    places_T = torch.arange(longest)
    mask_BT = places_T >= longest - lengths_B1 if left else places_T < lengths_B1
    ids_BT = torch.full((len(rows), longest), pad_id)
    ids_BT[mask_BT] = _end_to_end(rows)
    return ids_BT, mask_BT


def _end_to_end(rows: Sequence[Sequence[int]]) -> Tensor:
    return torch.as_tensor(np.frombuffer(array("q", chain.from_iterable(rows)), dtype=np.int64))  # text is no ids
