"""What is kept of many blocks by one copy is what is heard site by site."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from clearhead.config import SIZES
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.engine.kernels import ready
from clearhead.probe import Recorder, listen
from clearhead.testing import TinyModel
from clearhead.trace import Tape

Passed = list[tuple[str, Tensor]]


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


class Ear(Recorder):
    """Hears site by site, as anybody may who knows nothing of keeping together."""

    def __init__(self, *sites: str) -> None:
        super().__init__(*sites)
        self.passed: Passed = []

    def hear(self, site: str, value: Any) -> Any:
        self.passed.append((site, value.clone()))
        return value


def run(name: str, *listeners: Any, late: bool = False) -> None:
    """Three rows, a prompt and four steps; listeners hear the steps alone where they are late."""
    settings = DecodingSettings(max_new_tokens=5)
    requests = [Request(ids=ids, settings=settings) for ids in ((5, 6, 7), (9, 10, 11, 12), (4,))]
    engine = Engine(network=TinyModel(name, size=replace(SIZES["tiny"], n_layers=3)).model, start_id=1)
    with nullcontext() if late else listen(*listeners):
        stepper = engine.stepper([engine.fitted(request) for request in requests])
        stepper.start()
    with listen(*listeners):
        for index in range(4):
            stepper.step(torch.tensor([3, 4, 5 + index]))


def by_site(passed: Passed) -> dict[str, list[Tensor]]:
    found: dict[str, list[Tensor]] = {}
    for site, value in passed:
        found.setdefault(site, []).append(value)
    return found


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("sites", [("decoder.*",), ("*.pattern",), ("decoder.0.*", "*.resid_mid"), ("*.1.self.score",)])
@pytest.mark.parametrize("name", ["gpt2", "llama", "marian"])
def test_all_who_listen_have_the_same(name: str, sites: tuple[str, ...], late: bool) -> None:
    recorder, ear, tape = Recorder(*sites), Ear(*sites), Tape(sites=sites)
    run(name, recorder, ear, tape, late=late)
    wanted = by_site(ear.passed)
    assert list(recorder.history) == list(wanted)
    assert list(tape.pieces) == list(wanted)
    for site, values in wanted.items():
        for ours, value in zip(recorder.history[site], values, strict=True):
            assert ours.shape == value.shape and torch.equal(ours, value), site
    for site, pieces in tape.pieces.items():
        for piece, value in zip(pieces, wanted[site], strict=True):
            assert piece.shape == tuple(value.shape)
            np.testing.assert_array_equal(tape.value(piece, site), value.numpy())


def test_blocks_that_are_not_neighbours_are_kept_too() -> None:
    sites = ("decoder.0.self.pattern", "decoder.2.self.pattern")
    recorder, tape = Recorder(*sites), Tape(sites=sites)
    with_all = Recorder("*.pattern")
    run("gpt2", recorder, tape, with_all)
    assert list(recorder.history) == list(tape.pieces) == list(sites)
    for site in sites:
        for ours, piece, value in zip(recorder.history[site], tape.pieces[site], with_all.history[site], strict=True):
            assert torch.equal(ours, value)
            np.testing.assert_array_equal(tape.value(piece, site), value.numpy())


def test_what_a_recorder_has_can_be_changed_and_worked_with() -> None:
    first, second = Recorder("*.pattern"), Recorder("*.pattern")
    run("gpt2", first, second)
    site = "decoder.0.self.pattern"
    before, neighbour = second.history[site][-1].clone(), first.history["decoder.1.self.pattern"][-1].clone()
    first.history[site][-1].zero_()
    assert torch.equal(second.history[site][-1], before)
    assert torch.equal(first.history["decoder.1.self.pattern"][-1], neighbour)
    weight = torch.ones((), requires_grad=True)
    (second.history[site][-1] * weight).sum().backward()
    assert weight.grad is not None and weight.grad.isfinite()


def test_a_step_is_kept_by_one_call_for_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(Tape, "keep_all", lambda _, sites, *values: calls.append(sites))
    run("gpt2", Tape(sites=("*.pattern",)), late=True)
    assert calls == 4 * [tuple(f"decoder.{layer}.self.pattern" for layer in range(3))]
