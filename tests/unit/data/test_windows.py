"""Windows of running text: any place for training, every place once for evaluation."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest

from clearhead.data import Cursor, TokenStore, Windows
from clearhead.errors import ConfigError, TextError

Make = Callable[..., TokenStore]
ORIGINS = [0] * 5 + [1] * 3 + [2] * 2
PLACES = [[258, 105, 224, 488], [216, 300, 95, 331]]
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


def test_going_on_from_any_place_gives_the_same(store: Make) -> None:
    made = store(TEXT)
    settings = {"store": made, "length": 20, "n_rows": 3, "seed": 2}
    whole = [(after, ids.tolist()) for after, ids in islice(Windows(**settings), 30)]
    assert whole[-1][0].epoch > 1
    for place in (0, 5, 8, 20):
        rest = islice(Windows(**settings).from_cursor(whole[place][0]), 5)
        assert [(after, ids.tolist()) for after, ids in rest] == whole[place + 1 : place + 6]


def test_an_epoch_is_as_many_ids_as_there_are(store: Make) -> None:
    windows = Windows(store=store(TEXT), length=10, n_rows=5, seed=0)
    assert windows.steps_per_epoch() == 9
    assert [after for after, _ in islice(windows, 9)][-1] == Cursor(epoch=1, batch=0)


def test_chance_is_the_same_on_every_machine(store: Make) -> None:
    made = store(TEXT, origins=ORIGINS)
    for weights in (None, (1.0, 1.0, 1.0)):
        windows = Windows(store=made, length=7, n_rows=4, seed=0, weights=weights)
        assert windows.steps_per_epoch() == 17
        assert [windows.batch(step)[:, 0].tolist() for step in range(2)] == PLACES


def test_weights_read_a_source_more_or_less_often(store: Make) -> None:
    made = store(TEXT, origins=ORIGINS)
    windows = Windows(store=made, length=7, n_rows=5, seed=0, weights=(1.0, 4.0, 0.5))
    n_epoch = windows.steps_per_epoch()
    assert n_epoch == (250 + 4 * 150 + 50 - 1) // (7 * 5)
    starts = np.concatenate([ids[:, 0] for _, ids in islice(windows, 200 * n_epoch)])
    read = np.histogram(starts, (0, 250, 400, 500))[0] * 7 / 200
    assert read == pytest.approx([250, 600, 50], rel=0.05)
    # A window lies in its source, and reaches every place of it.
    assert set(starts) == {*range(243), *range(250, 393), *range(400, 493)}


def test_a_weight_that_all_have_makes_an_epoch_longer_and_changes_nothing_else(store: Make) -> None:
    made = store(TEXT)
    plain, twice = (Windows(store=made, length=7, n_rows=4, seed=0, weights=(weight,)) for weight in (1.0, 2.0))
    assert twice.steps_per_epoch() == 999 // 28
    assert all((plain.batch(step) == twice.batch(step)).all() for step in range(50))


def test_a_source_that_is_shorter_than_a_window_is_read_with_its_neighbours(store: Make) -> None:
    made = store(TEXT, origins=[0, *[1] * 8, 2])
    windows = Windows(store=made, length=60, n_rows=50, seed=0, weights=(500.0, 1.0, 500.0))
    starts = set(np.concatenate([ids[:, 0] for _, ids in islice(windows, 40)]))
    assert {0, 439} < starts
    assert starts - {0, 439} <= set(range(50, 390))


def test_going_on_with_weights_gives_the_same(store: Make) -> None:
    made = store(TEXT, origins=ORIGINS)
    settings = {"store": made, "length": 20, "n_rows": 3, "seed": 2, "weights": (0.5, 3.0, 1.0)}
    whole = [(after, ids.tolist()) for after, ids in islice(Windows(**settings), 40)]
    assert whole[-1][0].epoch > 1
    for place in (0, 5, 8, 30):
        rest = islice(Windows(**settings).from_cursor(whole[place][0]), 5)
        assert [(after, ids.tolist()) for after, ids in rest] == whole[place + 1 : place + 6]


def test_weights_must_fit_the_origins(store: Make) -> None:
    made = store(TEXT, origins=ORIGINS)
    with pytest.raises(ConfigError, match="too few weights"):
        Windows(store=made, length=7, n_rows=4, seed=0, weights=(1.0, 2.0))
    with pytest.raises(ConfigError, match="weight"):
        Windows(store=made, length=7, n_rows=4, seed=0, weights=(1.0, 2.0, -1.0))


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
