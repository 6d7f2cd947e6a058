"""A trace holds the numbers of the run itself, with the right axes, tokens and lines."""

import gc
import weakref
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import torch

from clearhead.config import RecurrentAttention, RecurrentConfig
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.errors import TextError, TraceError
from clearhead.model import Model
from clearhead.models import build
from clearhead.probe import listen
from clearhead.trace import Tape, Trace, record_generation, record_reading
from clearhead.trace.record import record_request

Make = Callable[..., Model]
WRITERS = ["gpt2", "llama", "t5", "marian"]


def steps(settings: int = 7) -> dict[str, int]:
    return {"max_new_tokens": settings}


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bert"])
def test_a_reading_is_what_the_network_gives(tiny_model: Make, kind: str) -> None:
    model = tiny_model(kind)
    trace = record_reading(model.loaded, "The cat.")
    ids = [token.id for token in trace.source or trace.target]
    with torch.no_grad():
        output = model.network(torch.tensor([ids]))
    logits = output.logits if kind == "bert" else output.logits_BTV
    np.testing.assert_allclose(trace["logits"], logits.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("beams", [1, 3])
def test_writing_with_a_trace_writes_the_same(tiny_model: Make, kind: str, beams: int) -> None:
    loaded = tiny_model(kind).loaded
    options = {"beams": beams, "temperature": 0, **steps()} if beams == 1 else {"beams": beams, **steps()}
    quiet = record_generation(loaded, "The cat.", sites=("logits",), **options)
    loud = record_generation(loaded, "The cat.", **options)
    assert quiet.answers[0].ids == loud.answers[0].ids
    np.testing.assert_allclose(quiet.trace["logits"], loud.trace["logits"], atol=1e-5)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("beams", [1, 4])
def test_the_steps_of_the_best_beam_are_one_pass_over_its_text(tiny_model: Make, kind: str, beams: int) -> None:
    """Cache on, beams reordered: put together, they must be what one pass over the finished text gives."""
    model = tiny_model(kind)
    found = record_generation(
        model.loaded, "The cat.", beams=beams, **({"temperature": 0} if beams == 1 else {}), **steps()
    )
    trace = found.trace
    target = torch.tensor([[token.id for token in trace.target]])
    tape = Tape(sites=("*",))
    with torch.no_grad(), listen(tape):
        if trace.source:
            model.network(torch.tensor([[token.id for token in trace.source]]), target)
        else:
            model.network(target)
    for site in trace:
        once = tape.value(tape.pieces[site][0], site)
        ours = trace[site]
        if site == "logits":
            once = once[:, -ours.shape[1] :]
        computed = ~np.isnan(ours)
        assert computed.all() or site.endswith(".score"), site
        np.testing.assert_allclose(ours[computed], once[computed], atol=2e-5, err_msg=site)
    assert trace.n_prompt + len(trace.written) - 1 == len(trace.target)


def test_beams_leave_their_ancestry_and_their_scores(tiny_model: Make) -> None:
    found = record_generation(tiny_model("marian").loaded, "The cat.", beams=4, **steps())
    trace = found.trace
    assert trace.score == pytest.approx(sum(trace.scores) / len(trace.written) ** trace.length_penalty, rel=1e-5)
    fates = {candidate.fate.value for step in trace.beams for candidate in step}
    assert "dropped" in fates and "running" in fates


@pytest.mark.parametrize("kind", [*WRITERS, "bert"])
def test_every_site_says_its_axes_tokens_origin_and_line(tiny_model: Make, kind: str) -> None:
    model = tiny_model(kind)
    trace = model.trace("The cat.", **({} if kind in ("gpt2", "llama", "bert") else steps())).trace
    for site, record in trace.sites.items():
        assert len(record.axes) == trace[site].ndim == len(record.shape), site
        assert record.operation, site
        assert record.line is not None and "probe(" in record.line.code, (site, record.line)
        assert all(name in trace for name in record.inputs), site
        for letter in record.axes:
            assert len(trace.labels(site, letter)) == record.shape[record.axes.index(letter)]
        for name in record.parameters:
            parameter = attrgetter(name)(model.network) if "blocks." not in name else model.network.get_parameter(name)
            assert isinstance(parameter, torch.nn.Parameter), name


def test_only_what_is_asked_for_is_kept(tiny_model: Make) -> None:
    trace = record_generation(tiny_model("marian").loaded, "Hi", sites=("decoder.*.cross.pattern",), **steps()).trace
    assert set(trace) == {"decoder.0.cross.pattern", "decoder.1.cross.pattern"}
    np.testing.assert_allclose(trace["decoder.1.cross.pattern"].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_run_that_nobody_has_any_more_leaves_nothing(tiny_model: Make, kind: str) -> None:
    """What a run kept is held by no ring: it need not wait until somebody looks for such."""
    loaded = tiny_model(kind).loaded
    tape = Tape(sites=("*.pattern",))
    gone = weakref.ref(tape)
    request = Request(ids=(5, 6), settings=DecodingSettings(max_new_tokens=3))
    gc.collect()
    gc.disable()
    try:
        names = (str, str)
        found = record_request(loaded.engine, request, tape=tape, config=loaded.config, pieces=names)
        assert found.trace.sites
        del found, tape
        assert gone() is None
    finally:
        gc.enable()


def test_an_unknown_site_names_the_nearest(tiny_model: Make) -> None:
    with pytest.raises(TraceError, match="no site of this name") as caught:
        record_reading(tiny_model("gpt2").loaded, "Hi", sites=("decoder.0.self.patern",))
    assert "decoder.0.self.pattern" in str(caught.value)
    trace = record_reading(tiny_model("gpt2").loaded, "Hi", sites=("logits",))
    with pytest.raises(TraceError, match="not recorded"):
        _ = trace["decoder.0.self.pattern"]


def test_pairs_and_single_texts_are_told_apart(tiny_model: Make) -> None:
    with pytest.raises(TextError, match="one text"):
        record_reading(tiny_model("gpt2").loaded, "a", "b")
    with pytest.raises(TextError, match="a pair"):
        record_reading(tiny_model("marian").loaded, "a")


@pytest.mark.parametrize("attention", ["additive", "dot", "none"])
def test_the_recurrent_model_is_traced_too(attention: str) -> None:
    config = RecurrentConfig(vocab_size=20, width=16, attention=RecurrentAttention(attention))
    engine = Engine(network=build(config, seed=0), start_id=1)
    names = (lambda index: f"s{index}", lambda index: f"t{index}")
    request = Request(ids=(3, 4, 5), settings=DecodingSettings(max_new_tokens=5, end_ids=()))
    trace = record_request(engine, request, tape=Tape(sites=("*",)), config=config, pieces=names).trace
    assert trace["encoder.hidden"].shape == (1, 3, 16)
    assert trace["decoder.hidden"].shape == (1, 5, 16)
    if attention != "none":
        pattern = trace["decoder.cross.pattern"]
        assert pattern.shape == (1, 1, 5, 3)
        np.testing.assert_allclose(pattern.sum(-1), 1, atol=1e-5)
        assert trace.labels("decoder.cross.pattern", "K") == ["s3", "s4", "s5"]


def test_a_trace_through_the_disk_is_the_same(tiny_model: Make, tmp_path: Path) -> None:
    loaded = tiny_model("llama").loaded
    plain = record_generation(loaded, "The cat.", temperature=0, **steps()).trace
    streamed = record_generation(loaded, "The cat.", temperature=0, out=tmp_path / "t.safetensors", **steps()).trace
    assert isinstance(streamed, Trace) and streamed.sites == plain.sites
    for site in plain:
        np.testing.assert_array_equal(plain[site], streamed[site])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.safetensors"]
