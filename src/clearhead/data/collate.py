"""Rows of ids as one array, and masking for masked language models.

Takes: rows of any lengths.
Gives: an array with padding, and which of it is real; inputs with masks, and the ids that were there.
Uses:  errors; numpy.
Never: chance that is not asked for: the same seed masks the same places.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import NDArray

__all__ = ["IGNORED", "mask_tokens", "pad"]

IGNORED = -100
"""The label of a place that no loss looks at."""

_MASKED, _REPLACED = 0.8, 0.9


def pad(rows: Sequence[NDArray[Any]], *, pad_id: int) -> tuple[Int[np.ndarray, "B S"], Bool[np.ndarray, "B S"]]:
    """Rows side by side, filled up to the longest; and True where an id is real."""
    lengths = np.array([len(row) for row in rows], np.int64)
    longest = int(lengths.max(initial=0))
    mask_BS = np.less(np.arange(longest), lengths[:, None])
    ids_BS = np.full((len(rows), longest), pad_id, np.int64)
    if len(rows):
        ids_BS[mask_BS] = np.concatenate(rows)
    return ids_BS, mask_BS


def mask_tokens(
    ids: Int[np.ndarray, "B S"],
    mask: Bool[np.ndarray, "B S"],
    special: Collection[int],
    *,
    seed: int | Sequence[int],
    mask_id: int,
    vocab_size: int,
    share: float = 0.15,
) -> tuple[Int[np.ndarray, "B S"], Int[np.ndarray, "B S"]]:
    """Hide some ids from a masked language model, as BERT's authors did (Devlin et al. 2018, section 3.1).

    Of the chosen places eight in ten become the mask, one in ten another id, and one stays as it is.

    Args:
        ids: What the model would read.
        mask: True where an id is real.
        special: Ids that are never chosen, nor put in another's place.
        seed: What chooses; give the step with it, or every step chooses alike.
        mask_id: The id of the mask.
        vocab_size: How many ids there are.
        share: The part of each row that is chosen; at least one place, where a row has any.

    Returns:
        What the model reads, and the ids it must find: IGNORED everywhere but in the chosen places.
    """
    rng = np.random.default_rng(seed)
    open_BS = mask & ~np.isin(ids, list(special))
    n_open_B = np.sum(open_BS, axis=1, dtype=np.int64)
    n_chosen_B = np.minimum(np.maximum(1, np.round(n_open_B * share)), n_open_B)
    order_BS = np.where(open_BS, rng.random(ids.shape), 2.0).argsort(axis=1).argsort(axis=1)
    chosen_BS = order_BS < n_chosen_B[:, None]
    dice_BS = rng.random(ids.shape)
    ordinary_V = np.setdiff1d(np.arange(vocab_size), np.array(list(special), np.int64))
    assert len(ordinary_V), "a vocabulary of special tokens alone"
    others_BS = ordinary_V[rng.integers(0, len(ordinary_V), ids.shape)]
    inputs_BS = np.where(chosen_BS & (dice_BS < _MASKED), mask_id, ids)
    inputs_BS = np.where(chosen_BS & (dice_BS >= _MASKED) & (dice_BS < _REPLACED), others_BS, inputs_BS)
    return inputs_BS.astype(np.int64), np.where(chosen_BS, ids, IGNORED).astype(np.int64)
