"""Windows of running text: any place for training, every place once for evaluation."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest

from clearhead.data import Cursor, TokenStore, Windows
from clearhead.errors import TextError

Make = Callable[..., TokenStore]
TEXT = [{"text": list(range(start, start + 50))} for start in range(0, 500, 50)]


def test_windows_are_runs_of_the_text(store: Make) -> None:
    windows = Windows(store=store(TEXT), length=7, n_rows=4, seed=0)
    for _, ids in islice(windows, 20):
        assert ids.shape == (4, 8)
        assert ids.dtype == np.int64
        assert (np.diff(ids) == 1).all()


def test_every_place_is_reached(store: Make) -> None:
    windows = Windows(store=store(TEXT), length=7, n_rows=50, seed=0)
    starts = np.concatenate([ids[:, 0] for _, ids in islice(windows, 200)])
    assert set(starts) == set(range(500 - 7))


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_going_on_from_any_place_gives_the_same(store: Make, n_ranks: int) -> None:
    made = store(TEXT)
    settings = {"store": made, "length": 20, "n_rows": 3, "seed": 2, "n_ranks": n_ranks}
    whole = [(after, ids.tolist()) for after, ids in islice(Windows(**settings), 30)]
    assert whole[-1][0].epoch > 1
    for place in (0, 5, 8, 20):
        rest = islice(Windows(**settings).from_cursor(whole[place][0]), 5)
        assert [(after, ids.tolist()) for after, ids in rest] == whole[place + 1 : place + 6]


def test_ranks_together_are_one_large_batch(store: Make) -> None:
    made = store(TEXT)
    parts = [Windows(store=made, length=9, n_rows=2, seed=1, rank=rank, n_ranks=3).batch(5) for rank in range(3)]
    assert (np.concatenate(parts) == Windows(store=made, length=9, n_rows=6, seed=1).batch(5)).all()


def test_an_epoch_is_as_many_ids_as_there_are(store: Make) -> None:
    windows = Windows(store=store(TEXT), length=10, n_rows=5, seed=0)
    assert windows.steps_per_epoch() == 9
    assert [after for after, _ in islice(windows, 9)][-1] == Cursor(epoch=1, batch=0)


@pytest.mark.parametrize("length", [7, 10, 499])
def test_in_order_every_id_is_foretold_once(store: Make, length: int) -> None:
    windows = Windows(store=store(TEXT), length=length, n_rows=4, seed=0)
    foretold = np.concatenate([ids[:, 1:].ravel() for ids in windows.sequential()])
    assert foretold.tolist() == list(range(1, 500))


def test_a_text_shorter_than_a_window(store: Make) -> None:
    with pytest.raises(TextError, match="shorter than one window") as caught:
        Windows(store=store(TEXT), length=500, n_rows=1, seed=0)
    assert "500 tokens" in str(caught.value)
    assert "at least 501" in str(caught.value)
