from dataclasses import replace

import pytest
import torch
from torch import Tensor

from clearhead.config import Cell, RecurrentAttention, RecurrentConfig
from clearhead.decoding import Stepper
from clearhead.engine import DecoderOnlyStepper, EncoderDecoderStepper, RecurrentStepper
from clearhead.models import DecoderOnly, Recurrent, build
from clearhead.nn import KeyValueCache
from clearhead.testing import TinyModel

PROMPTS = [(5, 9, 2, 7), (3,), (8, 8)]
SOURCES = [(4,), (5, 6, 7, 8, 9), (9, 2, 2)]
NEW = torch.tensor([[6, 1, 4], [2, 3, 9]])


def recurrent(cell: Cell = Cell.GRU, attention: RecurrentAttention = RecurrentAttention.ADDITIVE) -> Recurrent:
    return build(RecurrentConfig(vocab_size=20, width=8, n_layers=2, cell=cell, attention=attention), seed=0).eval()


def stepper_of(name: str, rows: list[int]) -> Stepper:
    prompts, sources = [PROMPTS[row] for row in rows], [SOURCES[row] for row in rows]
    if name == "recurrent":
        return RecurrentStepper(network=recurrent(), sources=sources, prompts=prompts)
    network = TinyModel(name).model.eval()
    if isinstance(network, DecoderOnly):
        return DecoderOnlyStepper(network=network, prompts=prompts, n_new=3)
    return EncoderDecoderStepper(network=network, sources=sources, prompts=prompts, n_new=3)


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "marian", "recurrent"])
def test_padding_changes_no_logit_before_or_after_rows_are_selected(name: str) -> None:
    chosen = [2, 0, 0]  # another order, one row twice, one row gone
    together = stepper_of(name, [0, 1, 2])
    found = [together.start(), together.step(NEW[0])]
    together.select(torch.tensor(chosen))
    found.append(together.step(NEW[1]))
    for row in range(3):
        alone = stepper_of(name, [row])
        assert torch.allclose(alone.start()[0], found[0][row], atol=1e-5)
        assert torch.allclose(alone.step(NEW[0, row : row + 1])[0], found[1][row], atol=1e-5)
        for place in (place for place, origin in enumerate(chosen) if origin == row):
            again = stepper_of(name, [row])
            again.start()
            again.step(NEW[0, row : row + 1])
            assert torch.allclose(again.step(NEW[1, place : place + 1])[0], found[2][place], atol=1e-5)


@pytest.mark.parametrize("name", ["llama", "marian", "recurrent"])
def test_rows_may_be_selected_before_the_start(name: str) -> None:
    stepper = stepper_of(name, [0, 1, 2])
    stepper.select(torch.tensor([2, 1]))
    assert torch.allclose(stepper.start(), stepper_of(name, [2, 1]).start(), atol=1e-5)


@pytest.mark.parametrize("cell", Cell)
@pytest.mark.parametrize("attention", RecurrentAttention)
def test_a_recurrent_model_step_by_step_is_the_model_at_once(cell: Cell, attention: RecurrentAttention) -> None:
    network = recurrent(cell, attention)
    stepper = RecurrentStepper(network=network, sources=SOURCES[1:2], prompts=[(1, 5)])
    found = torch.stack([stepper.start(), stepper.step(torch.tensor([7]))], dim=1)
    with torch.no_grad():
        whole = network(torch.tensor(SOURCES[1:2]), torch.tensor([[1, 5, 7]])).logits_BTV
    assert torch.allclose(found, whole[:, 1:], atol=1e-5)


def sliding(prompts: list[tuple[int, ...]], *, window: int, length: int = 64) -> tuple[DecoderOnly, DecoderOnlyStepper]:
    tiny = TinyModel("gpt2")
    config = tiny.config
    assert config.decoder is not None
    position = replace(config.decoder.position, max_length=length)
    network = build(replace(config, decoder=replace(config.decoder, position=position)), seed=0).eval()
    return network, DecoderOnlyStepper(network=network, prompts=prompts, n_new=30, window=window)


def expected(network: DecoderOnly, ids: list[int]) -> Tensor:
    with torch.no_grad():
        return network(torch.tensor([ids])).logits_BTV[0, -1]


def test_rows_slide_each_at_its_own_time_and_go_on_beyond_the_context() -> None:
    window = 8
    prompts = [(5, 9, 2, 7, 1, 1), (3,), (8, 8, 4)]
    network, stepper = sliding(prompts, window=window, length=window)
    rows = [list(prompt) for prompt in prompts]
    found = stepper.start()
    slid = set()
    for step in range(20):
        for row in range(3):
            assert torch.allclose(found[row], expected(network, rows[row]), atol=1e-4), (step, row)
        new = [(7 * step + 3 * row) % 11 for row in range(3)]
        for row, index in zip(rows, new, strict=True):
            row.append(index)
            if len(row) > window:
                del row[: len(row) - window // 2]
                slid.add((step, rows.index(row)))
        found = stepper.step(torch.tensor(new))
    assert len({step for step, _ in slid}) > 3  # they did not slide together


def test_a_row_that_outlives_a_longer_one_has_its_own_room() -> None:
    """The padding that a longer neighbour left behind does not count as text."""
    window = 8
    network, stepper = sliding([(1, 2, 3, 4, 5, 6), (7,)], window=window, length=window)
    stepper.start()
    stepper.step(torch.tensor([1, 2]))
    stepper.select(torch.tensor([1]))
    ids = [7, 2]
    for index in (3, 4, 5, 6, 7, 8):
        found = stepper.step(torch.tensor([index]))
        ids.append(index)
        assert torch.allclose(found[0], expected(network, ids), atol=1e-4)
    assert len(ids) == window


def test_a_prompt_longer_than_the_window_is_read_from_its_end() -> None:
    network, stepper = sliding([tuple(range(1, 15))], window=8, length=8)
    assert torch.allclose(stepper.start()[0], expected(network, list(range(7, 15))), atol=1e-4)


def test_the_smallest_window_holds_one_id() -> None:
    network, stepper = sliding([(4, 5)], window=1, length=1)
    assert torch.allclose(stepper.start()[0], expected(network, [5]), atol=1e-4)
    assert torch.allclose(stepper.step(torch.tensor([9]))[0], expected(network, [9]), atol=1e-4)


def chunk(length: int, seed: int, batch: int = 2) -> Tensor:
    return torch.randn(batch, 2, length, 3, generator=torch.Generator().manual_seed(seed))


def test_a_cache_grows_beyond_what_it_began_with_and_loses_nothing() -> None:
    cache = KeyValueCache(capacity=5000)
    parts = [chunk(length, seed) for seed, length in enumerate([1000, 20, 5, 1100, 1, 2000])]
    for part in parts:
        key, value = cache.append(part, part + 1)
    whole = torch.cat(parts, dim=2)
    assert torch.equal(key, whole)
    assert torch.equal(value, whole + 1)
    assert cache.length == whole.shape[2]


def test_rows_selected_from_a_cache_are_copies() -> None:
    cache = KeyValueCache(capacity=10)
    before = chunk(2, 0)
    kept, _ = cache.append(before, before)
    cache.select(torch.tensor([1, 1, 0]))
    after, _ = cache.so_far()
    cache.append(chunk(1, 1, batch=3), chunk(1, 2, batch=3))
    after[0].zero_()
    assert torch.equal(kept, before)
    assert torch.equal(after[1], before[1])  # the same row twice is not the same memory
