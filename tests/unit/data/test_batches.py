"""Batches hold everything once, waste little, and go on from any place exactly as they would have."""

from collections.abc import Callable
from itertools import islice, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from clearhead.data import Batches, Cursor, TokenStore
from clearhead.errors import ConfigError

Make = Callable[..., TokenStore]


def rows(n_records: int = 400, *, seed: int = 0, longest: int = 30) -> list[dict[str, list[int]]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, n_records)
    return [
        {"source": [1] * int(length), "target": [2] * int(max(1, length + rng.integers(-3, 4)))} for length in lengths
    ]


def cost(store: TokenStore, batch: NDArray[np.int64]) -> int:
    return sum(len(batch) * int(store.lengths(field)[batch].max()) for field in store.fields)


def taken(batches: Batches, n: int, cursor: Cursor | None = None) -> list[tuple[Cursor, list[int]]]:
    stream = iter(batches) if cursor is None else batches.from_cursor(cursor)
    return [(after, batch.tolist()) for after, batch in islice(stream, n)]


def test_an_epoch_holds_every_record_once(store: Make) -> None:
    batches = Batches(store=store(rows()), max_tokens=500, seed=0)
    for epoch in range(2):
        assert sorted(np.concatenate(list(batches.one_epoch(epoch)))) == list(range(400))


def test_no_batch_is_over_its_budget_and_few_are_far_under(store: Make) -> None:
    made = store(rows())
    sizes = [cost(made, batch) for batch in Batches(store=made, max_tokens=500, seed=0).one_epoch()]
    assert max(sizes) <= 500
    assert sum(size < 350 for size in sizes) <= 2


def test_a_record_over_the_budget_is_a_batch_of_its_own(store: Make) -> None:
    made = store([*rows(50), {"source": [1] * 400, "target": [1] * 400}])
    batches = list(Batches(store=made, max_tokens=300, seed=0).one_epoch())
    assert [batch.tolist() for batch in batches if 50 in batch] == [[50]]
    assert max(cost(made, batch) for batch in batches if 50 not in batch) <= 300


def test_epochs_and_seeds_differ_and_nothing_else_does(store: Make) -> None:
    made = store(rows())
    first = taken(Batches(store=made, max_tokens=500, seed=0), 30)
    assert taken(Batches(store=made, max_tokens=500, seed=0), 30) == first
    assert taken(Batches(store=made, max_tokens=500, seed=1), 30) != first
    batches = Batches(store=made, max_tokens=500, seed=0)
    epochs = [[tuple(batch) for batch in batches.one_epoch(epoch)] for epoch in range(2)]
    assert set(epochs[0]) != set(epochs[1])


def test_the_order_of_lengths_is_left_to_chance(store: Make) -> None:
    made = store(rows())
    widths = [
        int(made.lengths("source")[batch].max()) for batch in Batches(store=made, max_tokens=500, seed=0).one_epoch()
    ]
    rises = sum(one < next_one for one, next_one in pairwise(widths))
    assert 0.3 < rises / len(widths) < 0.7


def test_going_on_from_any_place_gives_the_same(store: Make) -> None:
    made = store(rows(60))
    whole = taken(Batches(store=made, max_tokens=200, seed=4), 40)
    assert {after.epoch for after, _ in whole} > {0, 1}
    for place, (after, _) in enumerate(whole[:-3]):
        assert taken(Batches(store=made, max_tokens=200, seed=4), 3, after) == whole[place + 1 : place + 4]
        assert Cursor.from_dict(after.to_dict()) == after


def test_a_place_at_the_very_end_is_the_start_of_the_next(store: Make) -> None:
    batches = Batches(store=store(rows(60)), max_tokens=200, seed=4)
    end = Cursor(epoch=0, batch=len(batches.plan(0)))
    assert taken(batches, 3, end) == taken(batches, 3, Cursor(epoch=1, batch=0))
    with pytest.raises(ConfigError, match="beyond the epoch"):
        taken(batches, 1, Cursor(epoch=0, batch=end.batch + 1))


def test_weights_draw_more_or_less_often(store: Make) -> None:
    made = store(rows(300), origins=[number // 100 for number in range(300)])
    batches = Batches(store=made, max_tokens=500, seed=0, weights=(1.0, 2.5, 0.25))
    drawn = [np.bincount(np.concatenate(list(batches.one_epoch(epoch))), minlength=300) for epoch in range(8)]
    assert all((counts[:100] == 1).all() for counts in drawn)
    assert all(np.isin(counts[100:200], (2, 3)).all() for counts in drawn)
    assert 2.4 < np.mean([counts[100:200] for counts in drawn]) < 2.6
    assert 0.2 < np.mean([counts[200:] for counts in drawn]) < 0.3


def test_weights_must_fit_the_origins(store: Make) -> None:
    made = store(rows(10), origins=[0] * 5 + [1] * 5)
    with pytest.raises(ConfigError, match="too few weights"):
        Batches(store=made, max_tokens=500, seed=0, weights=(1.0,))
    with pytest.raises(ConfigError, match="weight"):
        Batches(store=made, max_tokens=500, seed=0, weights=(1.0, 0.0))


def test_the_share_of_padding_is_what_it_says(store: Make) -> None:
    made = store(rows())
    batches = Batches(store=made, max_tokens=500, seed=0)
    padded = sum(cost(made, batch) for batch in batches.one_epoch())
    assert batches.padding_share() == pytest.approx(1 - made.n_tokens / padded)
    assert batches.padding_share() < 0.1


def test_one_field_needs_hardly_any_padding(store: Make) -> None:
    made = store([{"text": row["source"]} for row in rows(2000)])
    assert Batches(store=made, max_tokens=500, seed=0).padding_share() < 0.03


@pytest.mark.parametrize("settings", [{"max_tokens": 0}, {"seed": -1}])
def test_settings_that_cannot_be(store: Make, settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        Batches(**{"store": store(rows(5)), "max_tokens": 100, "seed": 0, **settings})


def test_chance_is_the_same_on_every_machine(store: Make) -> None:
    made = store([{"text": [1] * (number % 4 + 1)} for number in range(12)])
    assert [batch for _, batch in taken(Batches(store=made, max_tokens=8, seed=5), 3)] == [[2, 7], [10, 6], [11, 3]]
