"""Steps by a kernel: the same ids and the same numbers at the same sites as from the parts."""

import threading
from dataclasses import replace
from typing import Any

import pytest
import torch

from clearhead.config import SIZES, Activation, NormKind, NormPlacement, PositionKind, architecture
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request, WeightFormat
from clearhead.engine.kernels import ready
from clearhead.engine.kernels.quick_stack import QuickStack
from clearhead.models import build
from clearhead.probe import Edit, Recorder, listen
from clearhead.testing import TinyModel
from clearhead.trace import Tape

NAMES = ["gpt2", "llama", "t5", "marian"]
PROMPTS = [(5, 6, 7), (9, 10, 11, 12, 13), (4,)]
TOLERANCE = {WeightFormat.FLOAT32: 1e-4, WeightFormat.INT8: 5e-3}
"""A number that is rounded the other way moves a product by one part in thousands."""


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


def engine_of(name: str, weights: WeightFormat = WeightFormat.FLOAT32) -> Engine:
    return Engine(network=TinyModel(name).model, weights=weights, start_id=1)


def requests(beams: int = 1) -> list[Request]:
    settings = DecodingSettings(max_new_tokens=8, beams=beams)
    return [Request(ids=ids, settings=settings) for ids in PROMPTS]


def ids_of(engine: Engine, beams: int = 1) -> list[tuple[int, ...]]:
    return [reply.best.ids for reply in engine.generate(requests(beams))]


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_ids_as_by_parts(name: str, weights: WeightFormat, beams: int) -> None:
    engine = engine_of(name, weights)
    found = ids_of(engine, beams)
    with ready.by_parts():
        assert ids_of(engine, beams) == found


@pytest.mark.parametrize("head_width", [12, 24])
@pytest.mark.parametrize("name", ["gpt2", "marian"])
def test_heads_of_any_width(name: str, head_width: int) -> None:
    size = replace(SIZES["tiny"], n_layers=2, n_heads=2, width=2 * head_width, feedforward_width=32, max_length=32)
    network = build(architecture(name, size=size, vocab_size=40), seed=2)
    engine = Engine(network=network, start_id=1)
    fast, slow = Recorder("logits"), Recorder("logits")
    with listen(fast):
        found = ids_of(engine, 3)
    with listen(slow), ready.by_parts():
        assert ids_of(engine, 3) == found
    for one, other in zip(fast.history["logits"], slow.history["logits"], strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", NAMES)
def test_recorders_hear_every_site_of_every_step_alike(name: str, weights: WeightFormat) -> None:
    engine = engine_of(name, weights)
    fast, slow = Recorder(), Recorder()
    with listen(fast):
        ids_of(engine)
    with listen(slow), ready.by_parts():
        ids_of(engine)
    assert list(fast) == list(slow)
    for site, values in slow.history.items():
        assert len(fast.history[site]) == len(values), site
        for found, wanted in zip(fast.history[site], values, strict=True):
            if isinstance(wanted, torch.Tensor) and wanted.is_floating_point():
                worst = float((found - wanted).abs().max()) / max(1.0, float(wanted.abs().max()))
                assert found.shape == wanted.shape and worst <= TOLERANCE[weights], site


@pytest.mark.parametrize("sites", ["decoder.*", "decoder.*.rotated_query"])
def test_targets_that_turn_are_heard_from_the_first_step(sites: str) -> None:
    config = TinyModel("marian").config
    position = replace(config.decoder.position, kind=PositionKind.ROTARY)
    network = build(replace(config, decoder=replace(config.decoder, position=position)), seed=2)
    engine, fast, slow = Engine(network=network, start_id=1), Recorder(sites), Recorder(sites)
    with listen(fast):
        found = ids_of(engine)
    with listen(slow), ready.by_parts():
        assert ids_of(engine) == found
    assert list(fast) == list(slow)
    assert "decoder.1.self.rotated_query" in slow
    for site, values in slow.history.items():
        assert len(fast.history[site]) == len(values), site


def test_texts_that_are_read_as_a_whole_do_not_hide_what_steps_leave() -> None:
    engine, recorder = engine_of("llama"), Recorder("decoder.*.rotated_query")
    with listen(recorder), torch.no_grad():
        engine.network.decode(torch.tensor([[5, 6, 7]]))
        engine.generate(requests()[:1])
    assert [len(values) for values in recorder.history.values()] == [1 + 8] * engine.network.config.decoder.n_layers


@pytest.mark.parametrize("name", NAMES)
def test_a_tape_names_the_lines_of_the_parts(name: str) -> None:
    engine = engine_of(name)
    fast, slow = Tape(sites=("*",)), Tape(sites=("*",))
    with listen(fast):
        ids_of(engine)
    with listen(slow), ready.by_parts():
        ids_of(engine)
    assert "decoder.1.self.pattern" in slow.lines
    assert list(fast.lines.items()) == list(slow.lines.items())
    assert list(fast.pieces) == list(slow.pieces)
    for site, pieces in slow.pieces.items():
        assert [piece.step for piece in fast.pieces[site]] == [piece.step for piece in pieces], site


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", ["t5", "marian"])
def test_targets_that_begin_with_one_id_go_by_the_kernel_from_the_first_step(
    name: str, weights: WeightFormat, beams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = replace(SIZES["tiny"], n_layers=2, n_heads=2, width=32, max_length=32)  # heads that encoders read quickly
    network = build(architecture(name, size=size, vocab_size=40), seed=2)
    engine, begun = Engine(network=network, weights=weights, start_id=1), [0]
    look_across = QuickStack.look_across

    def counted(self: QuickStack, *sources: Any) -> None:
        begun[0] += 1
        look_across(self, *sources)

    monkeypatch.setattr(QuickStack, "look_across", counted)
    unheard = engine.generate(requests(beams), scored=True)
    with listen(Recorder("decoder.*.pattern")):
        heard = engine.generate(requests(beams), scored=True)
    assert begun[0] == 2
    for one, other in zip(unheard, heard, strict=True):  # to the bit: nobody changes a number by looking at another
        assert one.best == other.best
    begun[0] = 0
    with ready.by_parts():
        engine.generate(requests(beams))
    with listen(Edit("decoder.0.self.pattern", lambda pattern: pattern.flip(-1))):
        engine.generate(requests(beams))
    assert begun[0] == 0


def test_an_engine_that_ran_unheard_can_be_heard_and_the_other_way_round(two_threads: None) -> None:
    engine = engine_of("gpt2", WeightFormat.INT8)
    unheard = ids_of(engine)
    with listen(Recorder()):
        assert ids_of(engine) == unheard
    assert ids_of(engine) == unheard


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_has_its_way(name: str) -> None:
    engine = engine_of(name)
    edit = Edit("decoder.0.self.pattern", lambda pattern: pattern.flip(-1))
    with listen(edit):
        found = ids_of(engine)
    with listen(edit), ready.by_parts():
        assert ids_of(engine) == found
    first, second = Recorder("logits"), Recorder("logits")
    with listen(first):
        engine.generate(requests()[:1])
    with listen(edit, second):
        engine.generate(requests()[:1])
    assert not torch.allclose(first.history["logits"][-1], second.history["logits"][-1], atol=1e-5)


@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", ["llama", "marian"])
def test_two_threads_give_what_one_gives(name: str, weights: WeightFormat, two_threads: None) -> None:
    engine = engine_of(name, weights)
    both, one = Recorder("logits"), Recorder("logits")
    with listen(both):
        ids_of(engine)
    torch.set_num_threads(1)
    with listen(one):
        ids_of(engine)
    for found, wanted in zip(both.history["logits"][1:], one.history["logits"][1:], strict=True):
        assert torch.allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("activation", Activation)
@pytest.mark.parametrize("gated", [True, False])
def test_every_choice_has_its_kernel(activation: Activation, gated: bool) -> None:
    config = TinyModel("llama").config
    for kind, placement in ((NormKind.LAYER, NormPlacement.BEFORE), (NormKind.RMS, NormPlacement.AFTER)):
        stack = config.decoder
        stack = replace(
            stack,
            feedforward=replace(stack.feedforward, activation=activation, gated=gated),
            norm=replace(stack.norm, kind=kind, placement=placement),
            attention=replace(stack.attention, window=4),
        )
        engine = Engine(network=build(replace(config, decoder=stack), seed=3))
        assert isinstance(engine.network.decoder, QuickStack)
        fast, slow = Recorder("logits"), Recorder("logits")
        with listen(fast):
            ids_of(engine)
        with listen(slow), ready.by_parts():
            ids_of(engine)
        for found, wanted in zip(fast.history["logits"], slow.history["logits"], strict=True):
            assert torch.allclose(found, wanted, atol=1e-4)


def test_several_callers_at_once_get_what_each_would_get_alone(two_threads: None) -> None:
    engine = engine_of("gpt2", WeightFormat.INT8)
    alone = ids_of(engine)
    found: list[list[tuple[int, ...]]] = []
    callers = [threading.Thread(target=lambda: found.append(ids_of(engine))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [alone] * 4


def test_kernels_can_be_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ready.available()
    monkeypatch.setenv("CLEARHEAD_KERNELS", "0")
    assert not ready.available()
