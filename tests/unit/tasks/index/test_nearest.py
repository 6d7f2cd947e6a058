"""The nearest rows, exactly, however the rows fall into blocks."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import WeightsError
from clearhead.tasks.index import Index, Passage, stored
from clearhead.tasks.index.nearest import nearest_rows, unit_rows


def drawn(seed: int, n_rows: int, width: int) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).standard_normal((n_rows, width)))


def blocks(key_KD: np.ndarray, size: int) -> Iterator[tuple[int, np.ndarray]]:
    for first in range(0, len(key_KD), size):
        yield first, key_KD[first : first + size]


def by_sorting(query_D: np.ndarray, key_KD: np.ndarray, n: int) -> list[int]:
    score_K = (key_KD.astype(np.float64) * query_D.astype(np.float64)).sum(axis=1)
    return np.argsort(-score_K, kind="stable")[:n].tolist()


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("n", [1, 10, 500])
def test_the_best_rows_are_those_of_a_full_sort(size: int, n: int) -> None:
    query_QD, key_KD = drawn(0, 5, 24), drawn(1, 300, 24)
    found = nearest_rows(query_QD, blocks(key_KD, size), n=n)
    assert [best.rows.tolist() for best in found] == [by_sorting(query_D, key_KD, n) for query_D in query_QD]
    assert all((np.diff(best.scores) <= 0).all() for best in found)


@pytest.mark.parametrize("size", [1, 13, 128, 10_000])
def test_of_equal_rows_the_lower_comes_first(size: int) -> None:
    few_KD = drawn(2, 3, 77)
    rows = np.random.default_rng(3).integers(0, 3, 9000)
    query_D = few_KD[1] + few_KD[0] / 2
    [best] = nearest_rows(unit_rows(query_D[None]), blocks(few_KD[rows], size), n=50)
    assert best.rows.tolist() == np.flatnonzero(rows == 1)[:50].tolist()
    assert len(set(best.scores.tolist())) == 1


def test_many_queries_at_once_are_a_loop() -> None:
    query_QD, key_KD = drawn(4, 300, 16), drawn(5, 200, 16)
    together = nearest_rows(query_QD, blocks(key_KD, 64), n=4)
    for query, best in enumerate(together):
        [alone] = nearest_rows(query_QD[query : query + 1], blocks(key_KD, 200), n=4)
        assert best.rows.tolist() == alone.rows.tolist()
        assert best.scores.tolist() == alone.scores.tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1.5])
def test_rows_that_are_not_of_length_one_are_refused(value: float) -> None:
    key_KD = drawn(6, 20, 4)
    key_KD[13] = value
    with pytest.raises(WeightsError, match="rows 10 to 19"):
        nearest_rows(np.full((1, 4), 0.5, np.float32), blocks(key_KD, 10), n=3)


def test_rows_are_made_of_length_one_whatever_their_size() -> None:
    rows_KD = unit_rows(np.array([[3e38, 3e38], [1e-40, 0], [0, 0], [3, 4]], np.float32))
    assert np.allclose(rows_KD, [[np.sqrt(0.5)] * 2, [1, 0], [0, 0], [0.6, 0.8]])


def test_blocks_of_a_file_may_begin_anywhere_in_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key_KD = drawn(7, 1000, 13)
    rest = iter(key_KD)
    index = Index.build(
        tmp_path / "index",
        (Passage(str(row)) for row in range(1000)),
        lambda texts: np.array([next(rest) for _ in texts]),
        model="drawn",
    )
    monkeypatch.setattr(stored, "_BLOCK_BYTES", 4 * 13 * 150)
    query_D = drawn(8, 1, 13)[0]
    assert [int(hit.passage) for hit in index.search(query_D, 20)] == by_sorting(query_D, unit_rows(key_KD), 20)
