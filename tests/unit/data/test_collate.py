"""Rows become arrays, and masks fall where they should."""

import numpy as np
import pytest

from clearhead.data import mask_tokens, pad
from clearhead.data.collate import IGNORED

SPECIAL = (0, 1, 2, 3)
PAD, CLS, SEP, MASK = SPECIAL
N_PIECES = 50


def test_rows_are_filled_up() -> None:
    ids, mask = pad([np.array([5, 6, 7], np.uint16), np.array([8], np.uint16), np.array([], np.uint16)], pad_id=9)
    assert ids.tolist() == [[5, 6, 7], [8, 9, 9], [9, 9, 9]]
    assert mask.tolist() == [[True, True, True], [True, False, False], [False, False, False]]
    assert ids.dtype == np.int64


def test_no_rows() -> None:
    ids, mask = pad([], pad_id=0)
    assert ids.shape == mask.shape == (0, 0)


def masked(n_rows: int = 200, width: int = 40, *, seed: int = 0, share: float = 0.15) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(9)
    rows = [np.array([CLS, *rng.integers(4, N_PIECES, width), SEP]) for _ in range(n_rows)]
    ids, mask = pad([*rows, np.array([CLS, 7, SEP]), np.array([CLS, SEP])], pad_id=PAD)
    inputs, labels = mask_tokens(ids, mask, SPECIAL, seed=seed, mask_id=MASK, vocab_size=N_PIECES, share=share)
    return ids, inputs, labels


def test_the_share_is_kept_in_every_row() -> None:
    _, _, labels = masked()
    chosen = (labels != IGNORED).sum(axis=1)
    assert set(chosen[:-2]) == {6}
    assert chosen[-2:].tolist() == [1, 0]


def test_only_ordinary_pieces_are_chosen() -> None:
    ids, inputs, labels = masked()
    assert (labels[np.isin(ids, SPECIAL)] == IGNORED).all()
    chosen = labels != IGNORED
    assert (labels[chosen] == ids[chosen]).all()
    assert (inputs[~chosen] == ids[~chosen]).all()


def test_eight_in_ten_are_masked_one_replaced_one_left() -> None:
    ids, inputs, labels = masked()
    chosen = labels != IGNORED
    shares = [np.mean(part) for part in (inputs[chosen] == MASK, inputs[chosen] == ids[chosen])]
    assert shares == pytest.approx([0.8, 0.1], abs=0.03)
    others = inputs[chosen & (inputs != MASK) & (inputs != ids)]
    assert len(others) > 80
    assert not np.isin(others, SPECIAL).any()
    assert others.max() < N_PIECES


def test_the_seed_decides() -> None:
    assert all((one == other).all() for one, other in zip(masked(), masked(), strict=True))
    assert (masked()[2] != masked(seed=1)[2]).any()


def test_every_place_is_chosen_equally_often() -> None:
    labels = np.concatenate([masked(seed=seed)[2][:-2, 1:-1] for seed in range(5)])
    assert np.ptp((labels != IGNORED).mean(axis=0)) < 0.1
