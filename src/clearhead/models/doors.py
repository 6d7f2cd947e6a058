"""What every model asks of the ids and masks that come through its door."""

import torch
from torch import Tensor

from clearhead.errors import TextError


def check_ids(name: str, ids: Tensor) -> None:
    """Raises unless ids are a batch of at least one row and one column of whole numbers."""
    if ids.ndim != 2 or ids.dtype not in (torch.int64, torch.int32):
        raise TextError(
            f"{name} must be a table of whole numbers, one row a text",
            got=f"shape {tuple(ids.shape)}, {ids.dtype}",
            expected="two axes, int64",
            advice="torch.tensor([ids])",
        )
    if 0 in ids.shape:
        raise TextError(f"{name} are empty", got=f"shape {tuple(ids.shape)}", expected="at least one text of one token")


def check_mask(name: str, mask: Tensor | None, *, batch: int, length: int) -> None:
    """Raises unless a mask is boolean and has a cell for every position."""
    if mask is not None and (mask.dtype != torch.bool or tuple(mask.shape) != (batch, length)):
        raise TextError(
            f"{name} does not fit the ids",
            got=f"shape {tuple(mask.shape)}, {mask.dtype}",
            expected=f"shape {(batch, length)}, torch.bool, True where a token is real",
        )


def check_batch(ids: Tensor, *, batch: int) -> None:
    """Raises unless the target has a row for every row of the source."""
    if ids.shape[0] != batch:
        raise TextError(
            "source and target must have as many rows",
            got=f"{batch} and {ids.shape[0]}",
            expected="one target a source",
        )


def check_segments(segments: Tensor | None, *, like: Tensor, n_segments: int) -> None:
    """Raises unless every token is in a segment that the model knows."""
    if segments is None:
        return
    if segments.shape != like.shape or segments.dtype != like.dtype:
        raise TextError(
            "segment ids do not fit the ids",
            got=f"shape {tuple(segments.shape)}, {segments.dtype}",
            expected=f"shape {tuple(like.shape)}, {like.dtype}",
        )
    if n_segments and not 0 <= int(segments.min()) <= int(segments.max()) < n_segments:
        raise TextError(
            "a segment that the model does not know",
            got=f"segments from {int(segments.min())} to {int(segments.max())}",
            expected=f"0 to {n_segments - 1}",
        )
