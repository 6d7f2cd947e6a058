"""Rows divided among threads: the gradient of the whole batch, the same to the bit every time."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from clearhead.config import HeadKind, architecture
from clearhead.data import Cursor, Task, TokenStore
from clearhead.data.collate import IGNORED
from clearhead.engine.kernels.quick_products import QuickProducts, quick_products
from clearhead.models import build
from clearhead.nn import product
from clearhead.probe import Recorder, listen
from clearhead.training import Progress, TrainSettings, TranslateObjective, by_rows
from clearhead.training import step as step_module
from clearhead.training.by_rows import ByRows
from clearhead.training.encoder_objective import ClassifyObjective, MaskedLanguageModelObjective, SimilarityObjective
from clearhead.training.objective import Batch, LanguageModelObjective, Objective
from clearhead.training.settings import DropoutSettings
from clearhead.training.step import Stepper, StepResult
from clearhead.training.world import World

from .specimen import PAD, SETTINGS, SIZE, VOCAB_SIZE, feed, trainer

DROPPING = replace(SETTINGS, dropout=DropoutSettings(residual=0.2, hidden=0.1, attention=0.0))
WHOLE = replace(SETTINGS, dropout=DropoutSettings(residual=0.0, hidden=0.0, attention=0.0))


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def batches(store: TokenStore, n_batches: int = 2) -> list[Batch]:
    stream = feed(store, SETTINGS).follow(Cursor(epoch=0, batch=0))
    return [next(stream)[1] for _ in range(n_batches)]


def stepper(settings: TrainSettings) -> Stepper:
    network = build(architecture("original", size=SIZE, vocab_size=VOCAB_SIZE), seed=0)
    objective = TranslateObjective(decoder_start=PAD, smoothing=0.1)
    return Stepper(network=network, objective=objective, settings=settings, world=World())


def step(settings: TrainSettings, store: TokenStore, *, n_threads: int = 2) -> tuple[StepResult, list[Tensor]]:
    torch.set_num_threads(n_threads)
    made = stepper(settings)
    result = made.step(1, batches(store), n_steps=10)
    return result, [parameter.grad for parameter in made.network.parameters() if parameter.grad is not None]


def test_two_threads_find_the_gradient_of_one(store: TokenStore) -> None:
    (one, ones), (two, twos) = step(WHOLE, store, n_threads=1), step(WHOLE, store)
    assert (two.count, two.n_correct, two.n_tokens) == (one.count, one.n_correct, one.n_tokens)
    assert two.loss_sum == pytest.approx(one.loss_sum, rel=1e-5)
    assert two.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-4)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ones, twos, strict=True))


def test_a_step_is_the_same_to_the_bit_every_time(store: TokenStore) -> None:
    result, gradients = step(DROPPING, store)
    for _ in range(20):
        again, same = step(DROPPING, store)
        assert again == result
        assert all(map(torch.equal, gradients, same))


def test_each_thread_and_batch_drops_something_else(store: TokenStore) -> None:
    drawn: list[Tensor] = []
    made = stepper(DROPPING)
    network: Any = made.network
    network.encoder.embedding.dropout.register_forward_hook(lambda _m, _i, output: drawn.append(output == 0))
    batch = batches(store, 1)[0]
    doubled = {name: tensor.repeat_interleave(2, 0) for name, tensor in batch.items()}  # alike for both threads
    made.step(1, [doubled, doubled], n_steps=10)
    assert len(drawn) == 4
    assert not any(torch.equal(a, b) for place, a in enumerate(drawn) for b in drawn[:place])


def test_whoever_listens_hears_whole_batches(store: TokenStore) -> None:
    batch = batches(store, 1)[0]
    with listen(recorder := Recorder("decoder.0.cross.pattern")):
        stepper(DROPPING).step(1, [batch], n_steps=10)
    assert [len(each) for each in recorder.history["decoder.0.cross.pattern"]] == [len(batch["source"])]


@pytest.mark.parametrize("n_threads", [1, 2, 64])
def test_what_is_divided(store: TokenStore, n_threads: int) -> None:
    network: Any = stepper(WHOLE).network
    objective = TranslateObjective(decoder_start=PAD)
    batch = batches(store, 1)[0]
    torch.set_num_threads(n_threads)

    def divides(rows: ByRows, some: Batch) -> bool:
        rows.begin(0, step=1)
        return rows.divides(some)

    assert divides(ByRows(network=network, objective=objective), batch) == (n_threads == 2)
    one_row = {name: tensor[:1] for name, tensor in batch.items()}
    assert not divides(ByRows(network=network, objective=objective), one_row)
    assert not divides(ByRows(network=network, objective=SimilarityObjective()), batch)
    network.decoder.blocks[0].cross_attention.dropout = 0.1
    assert not divides(ByRows(network=network, objective=objective), batch)


@pytest.mark.parametrize("task", [Task.LANGUAGE_MODEL, Task.MASKED_LANGUAGE_MODEL, Task.CLASSIFY])
def test_models_of_one_stack_have_rows_for_several_threads_too(task: Task) -> None:
    found = {n_threads: _one_step(task, n_threads=n_threads) for n_threads in (1, 2)}
    (one, ones), (two, twos) = found[1], found[2]
    assert (two.count, two.n_correct, two.n_tokens) == (one.count, one.n_correct, one.n_tokens)
    assert two.loss_sum == pytest.approx(one.loss_sum, rel=1e-5)
    assert len(ones) == len(twos) > 10
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ones, twos, strict=True))


def _one_step(task: Task, *, n_threads: int) -> tuple[StepResult, list[Tensor]]:
    """A step of a small batch; a masked language model is asked nothing of the rows of a second thread."""
    torch.set_num_threads(n_threads)
    ids = torch.randint(5, VOCAB_SIZE, (6, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids, dtype=torch.bool)
    mask[2, 4:] = mask[5, 7:] = False
    batch = {"text": ids, "text_mask": mask}
    name = "llama" if task is Task.LANGUAGE_MODEL else "bert"
    config = architecture(name, size=SIZE, vocab_size=VOCAB_SIZE)
    objective: Objective = LanguageModelObjective()
    if task is Task.MASKED_LANGUAGE_MODEL:
        config = replace(config, head=replace(config.head, kind=HeadKind.MASKED_LANGUAGE_MODEL))
        objective = _HalfAsked(mask_id=4, vocab_size=VOCAB_SIZE)
    elif task is Task.CLASSIFY:
        head = replace(config.head, kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("a", "b", "c"))
        config, batch["label"] = replace(config, head=head), torch.tensor([0, 1, 2, 2, 1, 0])
        objective = ClassifyObjective()
    made = Stepper(network=build(config, seed=0), objective=objective, settings=WHOLE, world=World())
    result = made.step(1, [batch], n_steps=10)
    assert made._rows is not None and made._rows.divides(batch) == (n_threads == 2)
    return result, [parameter.grad for parameter in made.network.parameters() if parameter.grad is not None]


class _HalfAsked(MaskedLanguageModelObjective):
    """Hides nothing in every other row."""

    def prepare(self, batch: Batch) -> Batch:
        prepared = super().prepare(batch)
        prepared["label"][1::2] = IGNORED
        return prepared


@pytest.mark.parametrize("n_threads", [1, 2])
def test_products_by_kernels_come_to_the_same_gradient_and_to_the_same_bits(
    store: TokenStore, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, wanted = step(DROPPING, store, n_threads=n_threads)
    monkeypatch.setattr(step_module, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(product, "_LARGE", 1)
    by = quick_products()
    assert by is not None
    asked: list[str] = []
    for name in ("forwards", "to_rows", "add_to_weights"):
        own = getattr(QuickProducts, name)

        def counted(*args: Any, name: str = name, own: Any = own, **others: Any) -> Any:
            asked.append(name)
            return own(*args, **others)

        monkeypatch.setattr(QuickProducts, name, counted)
    result, gradients = step(DROPPING, store, n_threads=n_threads)
    assert len(asked) > 20 and len(set(asked)) == 3
    assert result.loss_sum == pytest.approx(usual.loss_sum, rel=1e-5)
    assert result.count == usual.count
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(gradients, wanted, strict=True))
    for _ in range(5):
        again, same = step(DROPPING, store, n_threads=n_threads)
        assert again == result and all(map(torch.equal, gradients, same))


def test_small_networks_do_without_kernels_and_large_ones_have_one_gradient(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stepper(WHOLE)
    assert made._products is None
    monkeypatch.setattr(by_rows, "_MOST_NUMBERS", 100)
    rows = ByRows(network=made.network, objective=TranslateObjective(decoder_start=PAD))
    rows.begin(0, step=1)
    assert not rows.divides(batches(store, 1)[0])


def test_a_thread_that_fails_fails_the_step(store: TokenStore) -> None:
    made = stepper(WHOLE)
    (batch,) = batches(store, 1)
    source = batch["source"].clone()
    source[1] = VOCAB_SIZE  # in the second thread's rows
    with pytest.raises(Exception, match="outside the vocabulary"):
        made.step(1, [{**batch, "source": source}], n_steps=10)
    assert torch.get_num_threads() == 2
    assert made.step(1, [batch], n_steps=10) == stepper(WHOLE).step(1, [batch], n_steps=10)


class Stopping(Progress):
    def update(self, report: Any) -> None:
        if report.step == 7:
            raise KeyboardInterrupt


def test_a_run_that_stops_ends_as_one_that_does_not(tmp_path: Path, store: TokenStore) -> None:
    with trainer(tmp_path / "whole", store, DROPPING) as whole:
        whole.run()
    with trainer(tmp_path / "run", store, DROPPING, progress=Stopping()) as first, pytest.raises(KeyboardInterrupt):
        first.run()
    with trainer(tmp_path / "run", store, DROPPING) as second:
        second.run()
    assert all(map(torch.equal, whole.network.parameters(), second.network.parameters()))
