"""What several steps of one call leave is what steps by themselves let everybody hear."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from clearhead.config import SIZES, Size, architecture
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Reply, Request, WeightFormat
from clearhead.engine import engine as engine_module
from clearhead.engine.kernels import keeping, ready
from clearhead.engine.kernels.quick_search import QuickSearches
from clearhead.engine.kernels.quick_writer import QuickWriter
from clearhead.errors import TraceError
from clearhead.models import build
from clearhead.probe import Edit, Recorder, listen
from clearhead.trace import Tape

SOURCES = [(5, 9, 3), (7,), (11, 4, 20, 8, 33, 2, 17), (6, 6), (30, 12, 5, 8)]
BEAMS = DecodingSettings(beams=3, n_best=2, end_ids=(1,), max_new_tokens=24)
LIKELIEST = DecodingSettings(end_ids=(1, 9), max_new_tokens=24)
IN_BLOCKS = ["*.pattern", "decoder.*.score", "decoder.1.resid_*", "decoder.0.*.norm", "decoder.*.ffn.hidden", "*.query"]
IN_BLOCKS += ["decoder.*.cross.*"]
ELSEWHERE = ["*", "logits", "decoder.embed.*", "decoder.@positions", "decoder.final_norm"]
Hear = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def engine(name: str = "marian", *, weights: WeightFormat = WeightFormat.FLOAT32) -> Engine:
    size = Size(**vars(SIZES["tiny"]) | {"n_layers": 2, "n_heads": 2, "width": 32, "max_length": 64})
    network: Any = build(architecture(name, size=size, vocab_size=90), seed=2)
    return Engine(network=network.eval(), weights=weights, start_id=0)


def asked(settings: DecodingSettings, sources: Sequence[tuple[int, ...]] = SOURCES) -> list[Request]:
    return [Request(ids=source, settings=settings) for source in sources]


def heard(
    monkeypatch: pytest.MonkeyPatch, made: Engine, requests: list[Request], listener: Any, *, by_steps: bool = False
) -> tuple[list[Reply], int]:
    """What is found while somebody listens, and in how many calls of several steps."""
    calls: list[int] = []
    with monkeypatch.context() as patch:
        if by_steps:
            patch.setattr(engine_module, "quick_writer", lambda _, stepper: stepper)
        follow = QuickWriter.follow

        def counted(self: QuickWriter, searches: QuickSearches) -> None:
            before = len(searches._trail)
            follow(self, searches)
            calls.append(len(searches._trail) - before)

        patch.setattr(QuickWriter, "follow", counted)
        with listen(listener):
            return made.generate(requests), sum(n > 1 for n in calls)


def compare(recorder: Recorder, wanted: Recorder) -> None:
    assert list(recorder.history) == list(wanted.history)
    assert set(recorder._globs.seen) == set(wanted._globs.seen)  # sites that passed, and no others
    for site, values in wanted.history.items():
        assert len(recorder.history[site]) == len(values), site
        for value, like in zip(recorder.history[site], values, strict=True):
            assert value.shape == like.shape
            if not site.startswith("encoder."):  # where padding is not computed
                torch.testing.assert_close(value, like, rtol=0, atol=2e-5)


@pytest.mark.parametrize("sites", IN_BLOCKS)
@pytest.mark.parametrize("settings", [BEAMS, LIKELIEST], ids=["beams", "likeliest"])
@pytest.mark.parametrize("name", ["marian", "t5"])
def test_a_recorder_has_what_it_has_of_steps_by_themselves(
    name: str, settings: DecodingSettings, sites: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, found, wanted = engine(name), Recorder(sites), Recorder(sites)
    replies, calls = heard(monkeypatch, made, asked(settings), found)
    likewise, _ = heard(monkeypatch, made, asked(settings), wanted, by_steps=True)
    assert calls == 2 and found.history
    assert [reply.best.ids for reply in replies] == [reply.best.ids for reply in likewise]
    compare(found, wanted)


@pytest.mark.parametrize("sites", [*ELSEWHERE, "*@*", "decoder.*"])
def test_who_hears_more_than_blocks_has_the_steps_one_by_one(sites: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, found, wanted = engine("t5"), Recorder(sites), Recorder(sites)
    _, calls = heard(monkeypatch, made, asked(BEAMS), found)
    heard(monkeypatch, made, asked(BEAMS), wanted, by_steps=True)
    assert not calls
    assert list(found.history) == list(wanted.history)
    assert {site: len(values) for site, values in found.history.items()} == {
        site: len(values) for site, values in wanted.history.items()
    }


def test_what_a_step_passes_beside_its_blocks_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that learns to tell something new of a step must be told of here: a call of many steps would skip it."""
    for name in ("marian", "t5", "original"):
        made, everything = engine(name), Recorder("*", "*@*")
        with monkeypatch.context() as patch:
            patch.setattr(engine_module, "quick_writer", lambda _, stepper: stepper)
            with listen(everything):
                made.generate(asked(LIKELIEST))
        beside = {site for site in everything if not site.startswith("encoder.") and site.split(".")[1:2] != ["0"]}
        for site in beside - {site for site in beside if site.split(".")[1:2] == ["1"]} - {"@ids"}:
            _, calls = heard(monkeypatch, made, asked(LIKELIEST), Recorder(site))
            assert not calls, site


@pytest.mark.parametrize("settings", [BEAMS, LIKELIEST], ids=["beams", "likeliest"])
def test_a_tape_has_the_steps_in_their_order(settings: DecodingSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    made, sites = engine(), ("decoder.*.pattern", "decoder.1.resid_post")
    found, wanted = Tape(sites=sites), Tape(sites=sites)
    _, calls = heard(monkeypatch, made, asked(settings), found)
    heard(monkeypatch, made, asked(settings), wanted, by_steps=True)
    assert calls == 2 and found.step == wanted.step > 16
    assert list(found.pieces) == list(wanted.pieces)
    assert found.lines == wanted.lines
    assert all(line is not None and line.file.startswith("nn/") for line in found.lines.values())
    for site, pieces in wanted.pieces.items():
        assert [piece.step for piece in found.pieces[site]] == [piece.step for piece in pieces]
        for piece, like in zip(found.pieces[site], pieces, strict=True):
            np.testing.assert_allclose(piece.of(site), like.of(site), rtol=0, atol=2e-5)


def test_ids_are_told_before_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    made, found, wanted = engine(), Recorder("@ids"), Recorder("@ids")
    _, calls = heard(monkeypatch, made, asked(BEAMS), found)
    heard(monkeypatch, made, asked(BEAMS), wanted, by_steps=True)
    assert calls == 2
    for value, like in zip(found.history["@ids"], wanted.history["@ids"], strict=True):
        assert value.equal(like)


def test_where_much_is_heard_fewer_steps_are_taken_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made, found, wanted = engine(), Recorder("*.pattern", "*.hidden"), Recorder("*.pattern", "*.hidden")
    heard(monkeypatch, made, asked(BEAMS), wanted, by_steps=True)
    monkeypatch.setattr(keeping, "_MOST_NUMBERS", 20_000)
    _, calls = heard(monkeypatch, made, asked(BEAMS), found)
    assert calls > 2
    compare(found, wanted)
    monkeypatch.setattr(keeping, "_MOST_NUMBERS", 0)
    alone = Recorder("*.pattern")
    heard(monkeypatch, made, asked(BEAMS), alone)
    assert len(alone.history["decoder.0.self.pattern"]) == len(wanted.history["decoder.0.self.pattern"])


def test_what_was_kept_stays_when_other_texts_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made, recorder = engine(), Recorder("*.pattern")
    heard(monkeypatch, made, asked(BEAMS), recorder)
    kept = {site: [value.clone() for value in values] for site, values in recorder.history.items()}
    made.generate(asked(BEAMS, [(8, 8, 8, 8)] * 5))
    recorder["decoder.0.self.pattern"].zero_()  # the last step alone
    for site, values in kept.items():
        for place, value in enumerate(values):
            changed = site == "decoder.0.self.pattern" and place == len(values) - 1
            assert recorder.history[site][place].equal(value) != changed


def test_what_is_kept_is_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Recorder("decoder.0.self.norm", "decoder.0.resid_mid"), Recorder("decoder.0.self.norm")
    with listen(other):
        _, calls = heard(monkeypatch, engine("marian"), asked(BEAMS), one)
    assert calls == 2
    for place, value in enumerate(other.history["decoder.0.self.norm"]):  # in such a model both sites have one value
        value.zero_()
        assert one.history["decoder.0.self.norm"][place].any()
        one.history["decoder.0.self.norm"][place].zero_()
        assert one.history["decoder.0.resid_mid"][place].any()


def test_a_site_that_the_model_does_not_have_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, site in (("marian", "decoder.final_norm"), ("marian", "decoder.@bias"), ("t5", "decoder.embed.position")):
        recorder = Recorder("decoder.0.self.pattern", site)
        _, calls = heard(monkeypatch, engine(name), asked(BEAMS), recorder)
        assert calls == 2
        with pytest.raises(TraceError, match="not recorded"):
            recorder[site]
        assert site not in recorder._globs.seen


class Ear(Recorder):
    """Hears site by site."""

    def hear(self, site: str, value: Any) -> Any:
        return super().hear(site, value)


@pytest.mark.parametrize("listener", [Ear("*.pattern"), Edit("decoder.0.self.pattern", torch.zeros_like)])
def test_who_is_told_site_by_site_or_changes_something_has_steps_by_themselves(
    listener: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, calls = heard(monkeypatch, engine(), asked(BEAMS), listener)
    assert not calls


@pytest.mark.parametrize("site", ["decoder.*.cross.key", "decoder.*.cross.value"])
def test_what_parts_make_of_sources_is_told_site_by_site_to_who_asks_for_it(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, ear, wanted = engine(), Ear(site), Recorder(site)
    _, calls = heard(monkeypatch, made, asked(BEAMS), ear)
    heard(monkeypatch, made, asked(BEAMS), wanted, by_steps=True)
    assert calls == 2 and len(wanted) == 2
    compare(ear, wanted)


def test_nothing_has_passed_where_reading_sources_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    made, tape = engine(), Tape(sites=("*.pattern",))

    def fails(*_: Any, **__: Any) -> None:
        raise ValueError("unreadable")

    monkeypatch.setattr(made.network, "encode", fails)
    with listen(tape), pytest.raises(ValueError, match="unreadable"):
        made.generate(asked(BEAMS))
    assert not tape.passed


def test_a_search_that_is_recorded_keeps_its_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    made, requests = engine(), asked(BEAMS, SOURCES[:1])
    quick = made.generate(requests, record=True)[0]
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "kernels", lambda: None)
        slow = made.generate(requests, record=True)[0]
    assert [answer.ids for answer in quick.answers] == [answer.ids for answer in slow.answers]
    assert len(quick.steps) == len(slow.steps) > 16
    for step, like in zip(quick.steps, slow.steps, strict=True):
        for one, other in zip(step, like, strict=True):
            assert (one.parent, one.id, one.fate, one.place) == (other.parent, other.id, other.fate, other.place)
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
