import pytest
import torch
from torch import Tensor

from clearhead.errors import DecodingError
from clearhead.nn import KeyValueCache, StackCache


def chunk(length: int, seed: int, batch: int = 3) -> Tensor:
    return torch.randn(batch, 2, length, 4, generator=torch.Generator().manual_seed(seed))


def test_appending_is_concatenation() -> None:
    cache = KeyValueCache(capacity=7)
    keys, values = [], []
    for seed, length in enumerate([2, 1, 4]):
        keys.append(chunk(length, seed))
        values.append(chunk(length, seed + 100))
        key, value = cache.append(keys[-1], values[-1])
        assert key.equal(torch.cat(keys, dim=2))
        assert value.equal(torch.cat(values, dim=2))
    assert cache.length == 7
    assert cache.so_far()[0].equal(torch.cat(keys, dim=2))
    assert cache.so_far()[1].equal(torch.cat(values, dim=2))


def test_memory_is_allocated_once() -> None:
    cache = KeyValueCache(capacity=5)
    first, _ = cache.append(chunk(2, 0), chunk(2, 1))
    second, _ = cache.append(chunk(3, 2), chunk(3, 3))
    assert first.data_ptr() == second.data_ptr()


def test_a_full_cache_says_how_much_fits_and_keeps_what_it_has() -> None:
    cache = KeyValueCache(capacity=3)
    before = cache.append(chunk(2, 0), chunk(2, 1))[0].clone()
    with pytest.raises(DecodingError) as caught:
        cache.append(chunk(2, 2), chunk(2, 3))
    assert caught.value.got == "4 positions"
    assert caught.value.expected == "at most 3"
    assert caught.value.advice
    assert cache.length == 2
    assert cache.so_far()[0].equal(before)


def test_select_reorders_repeats_and_drops_rows() -> None:
    cache = KeyValueCache(capacity=4)
    key, value = chunk(2, 0), chunk(2, 1)
    cache.append(key, value)
    rows = torch.tensor([2, 0, 2, 2])
    cache.select(rows)
    assert cache.so_far()[0].equal(key[rows])
    assert cache.so_far()[1].equal(value[rows])
    more = chunk(2, 2, batch=4)
    assert cache.append(more, more)[0].equal(torch.cat([key[rows], more], dim=2))


def test_selecting_from_an_empty_cache_changes_nothing() -> None:
    cache = KeyValueCache(capacity=4)
    cache.select(torch.tensor([1]))
    assert cache.append(chunk(1, 0), chunk(1, 0))[0].shape[0] == 3


def test_what_is_cached_carries_no_gradient() -> None:
    key, value = KeyValueCache(capacity=4).append(chunk(1, 0).requires_grad_(), chunk(1, 1).requires_grad_())
    assert not key.requires_grad
    assert not value.requires_grad


def test_a_stack_selects_in_every_block_and_in_the_source() -> None:
    cache = StackCache(n_layers=2, capacity=3, source_length=2)
    key = chunk(2, 0)
    for block in cache.blocks:
        block.own.append(key, key)
        block.cross.append(key, key)
    assert cache.length == 2
    rows = torch.tensor([1, 1])
    cache.select(rows)
    for block in cache.blocks:
        assert block.own.so_far()[0].equal(key[rows])
        assert block.cross.so_far()[1].equal(key[rows])


def test_another_batch_than_the_cached_one_is_refused() -> None:
    cache = KeyValueCache(capacity=4)
    cache.append(chunk(1, 0), chunk(1, 0))
    with pytest.raises(DecodingError):
        cache.append(chunk(1, 0, batch=2), chunk(1, 0, batch=2))


def test_rows_that_changed_places_are_written_in_their_own_place_and_read_in_order() -> None:
    """As a kernel does it: several selections, more rows, fewer rows, and memory that runs out meanwhile."""
    cache = KeyValueCache(capacity=140)
    key, value = chunk(60, 0, batch=2), chunk(60, 1, batch=2)
    cache.append(key, value)
    wanted_key, wanted_value = key, value
    for step, rows in enumerate([[1, 0, 1, 1], [3, 0, 0, 2], [2, 1, 3, 0, 0], [4, 2], [1, 1, 0]]):
        cache.select(torch.tensor(rows))
        wanted_key, wanted_value = wanted_key[rows], wanted_value[rows]
        new = chunk(2, 10 + step, batch=len(rows))
        for place in range(2):
            memory = cache.opened()
            for row in range(len(rows)):
                memory.key_BGKC[row, :, cache.length - 1] = new[row, :, place]
                memory.value_BGKC[row, :, cache.length - 1] = -new[row, :, place]
        wanted_key, wanted_value = torch.cat([wanted_key, new], dim=2), torch.cat([wanted_value, -new], dim=2)
        stored = cache.stored()
        assert stored.lines_BK is not None
        for row, lines in enumerate(stored.lines_BK[:, : cache.length].tolist()):
            found = torch.stack([stored.key_BGKC[line, :, place] for place, line in enumerate(lines)], dim=1)
            assert found.equal(wanted_key[row])
    assert cache.so_far()[0].equal(wanted_key)
    assert cache.so_far()[1].equal(wanted_value)
    assert cache.stored().lines_BK is None
