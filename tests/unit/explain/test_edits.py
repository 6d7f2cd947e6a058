"""Edits change what they say and nothing else, in one pass and in every step of decoding."""

from collections.abc import Callable

import numpy as np
import pytest

import clearhead
from clearhead.errors import ConfigError, TraceError
from clearhead.explain import compare, freeze, parse_edit, patch, patch_map
from clearhead.model import Model

Make = Callable[..., Model]
TEXT = "The cat."
STEPS = {"max_new_tokens": 6, "beams": 1}


def run(model: Model, *edits: object, sites: str = "*") -> clearhead.Run:
    with model.edit(*edits):  # type: ignore[arg-type]
        if model.family == "encoder-decoder":
            return model.trace(TEXT, sites=sites, **STEPS)
        return model.trace(TEXT, sites=sites)


@pytest.mark.parametrize(
    ("kind", "part"), [("gpt2", "decoder.1.self"), ("bert", "encoder.0.self"), ("marian", "decoder.1.cross")]
)
def test_a_head_that_is_switched_off_brings_nothing(tiny_model: Make, kind: str, part: str) -> None:
    model = tiny_model(kind)
    before = run(model)
    after = run(model, clearhead.ablate(part, head=1))
    assert not after[f"{part}.mixed"][:, 1].any()
    first = slice(0, 1) if kind == "marian" else slice(None)
    np.testing.assert_allclose(after[f"{part}.mixed"][:, 0, first], before[f"{part}.mixed"][:, 0, first], atol=1e-5)
    assert not np.allclose(after["logits"][:, 0], before["logits"][:, 0], atol=1e-6)
    again = run(model)
    np.testing.assert_array_equal(again["logits"], before["logits"])


def test_a_head_may_bring_its_average_instead(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    before = run(model)
    after = run(model, clearhead.ablate("decoder.0.self", head=0, mean_of=before.trace))
    mean = before["decoder.0.self.mixed"][0, 0].mean(0)
    np.testing.assert_allclose(after["decoder.0.self.mixed"][0, 0], np.broadcast_to(mean, (8, 8)), atol=1e-6)


@pytest.mark.parametrize("query", [0, 2, 4])
def test_a_query_looks_where_it_is_told_also_while_decoding(tiny_model: Make, query: int) -> None:
    model = tiny_model("marian")
    after = run(model, clearhead.look_at("decoder.0.cross", query=query, key=3, head=1))
    pattern = after["decoder.0.cross.pattern"]
    assert pattern[0, 1, query].argmax() == 3 and pattern[0, 1, query, 3] == 1
    assert pattern[0, 0, query].max() < 1


def test_shares_that_do_not_sum_to_one_are_refused_unless_normalised(tiny_model: Make) -> None:
    with pytest.raises(TraceError, match="sum to 1"):
        clearhead.look_at("decoder.0.self", query=1, weights=[0.2, 0.2])
    after = run(tiny_model("gpt2"), clearhead.look_at("decoder.0.self", query=1, weights=[1, 3], normalise=True))
    np.testing.assert_allclose(after["decoder.0.self.pattern"][0, :, 1, :2], [[0.25, 0.75]] * 2)
    for weights in ([-1.0, 2.0], [float("nan")], []):
        with pytest.raises(TraceError):
            clearhead.look_at("decoder.0.self", query=1, weights=weights)
    with pytest.raises(TraceError, match="not there"):
        run(tiny_model("gpt2"), clearhead.look_at("decoder.0.self", query=1, key=60))


def test_frozen_patterns_are_those_of_the_other_run(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    other = model.trace("A dog!!!").trace
    after = run(model, freeze(other, "decoder.*.self"))
    np.testing.assert_array_equal(after["decoder.1.self.pattern"], other["decoder.1.self.pattern"])
    short = model.trace("A").trace
    with pytest.raises(TraceError, match="does not fit"):
        run(model, freeze(short, "decoder.*.self"))


@pytest.mark.parametrize(
    ("kind", "where", "site"),
    [
        ("bert", "encoder", "encoder.1.self"),
        ("gpt2", "decoder", "decoder.1.self"),
        ("marian", "cross", "decoder.1.cross"),
        ("t5", "encoder", "encoder.0.self"),
    ],
)
def test_a_dropped_position_is_not_looked_at(tiny_model: Make, kind: str, where: str, site: str) -> None:
    after = run(tiny_model(kind), clearhead.drop(where, position=2))
    pattern = after[f"{site}.pattern"]
    assert not pattern[..., 2].any()
    open_rows = pattern.sum(-1)[pattern.sum(-1) > 0]
    np.testing.assert_allclose(open_rows, 1, atol=1e-5)


def test_the_future_can_be_laid_open(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    assert run(model)["decoder.0.self.pattern"][0, 0, 0, 1:].sum() == 0
    assert run(model, clearhead.open_mask("decoder"))["decoder.0.self.pattern"][0, 0, 0, 1:].sum() > 0.1


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bert", "t5", "marian"])
def test_exchanged_positions_are_exchanged_tokens_seen_from_afar(tiny_model: Make, kind: str) -> None:
    """Swapping what two positions are called gives what swapping their tokens gives, at the other place."""
    model = tiny_model(kind)
    stack = "decoder" if kind in ("gpt2", "llama") else "encoder"
    edits = [clearhead.swap(stack, first=1, second=3)]
    if stack == "decoder":
        edits.append(clearhead.open_mask("decoder"))
    after = run(model, *edits)
    text = TEXT[:1] + TEXT[3] + TEXT[2] + TEXT[1] + TEXT[4:]
    with model.edit(*edits[1:]):
        other = model.trace(text, **(STEPS if model.family == "encoder-decoder" else {}))
    site = f"{stack}.1.resid_post"
    np.testing.assert_allclose(after[site][0, 1], other[site][0, 3], atol=1e-4)
    np.testing.assert_allclose(after[site][0, 3], other[site][0, 1], atol=1e-4)
    np.testing.assert_allclose(after[site][0, 5], other[site][0, 5], atol=1e-4)


@pytest.mark.parametrize("kind", ["gpt2", "bert", "marian"])
def test_a_skipped_block_leaves_the_stream_alone(tiny_model: Make, kind: str) -> None:
    stack = "encoder" if kind == "bert" else "decoder"
    after = run(tiny_model(kind), clearhead.skip(f"{stack}.1"))
    np.testing.assert_array_equal(after[f"{stack}.1.resid_post"], after[f"{stack}.1.resid_pre"])


def test_scaled_scores_sharpen_or_flatten(tiny_model: Make) -> None:
    model = tiny_model("bert")
    flat = run(model, clearhead.scale_scores("encoder.0.self", factor=0.0))["encoder.0.self.pattern"]
    np.testing.assert_allclose(flat, 1 / flat.shape[-1], atol=1e-6)
    sharp = run(model, clearhead.scale_scores("encoder.0.self", factor=1000.0))["encoder.0.self.pattern"]
    assert sharp.max(-1).mean() > 0.9


def test_everything_brought_over_gives_the_other_runs_answer(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    other = model.trace("A dog!!!")
    after = run(model, patch(other.trace, "decoder.1.resid_post"))
    np.testing.assert_allclose(after["logits"], other["logits"], atol=1e-5)
    one = run(model, patch(other.trace, "decoder.0.resid_post", position=2))
    np.testing.assert_array_equal(one["decoder.0.resid_post"][0, 2], other["decoder.0.resid_post"][0, 2])
    np.testing.assert_array_equal(one["logits"][0, 1], run(model)["logits"][0, 1])
    head = run(model, patch(other.trace, "decoder.1.self.mixed", head=1))
    np.testing.assert_array_equal(head["decoder.1.self.mixed"][0, 1], other["decoder.1.self.mixed"][0, 1])
    with pytest.raises(TraceError, match="different lengths"):
        run(model, patch(model.trace("A").trace, "decoder.1.resid_post"))


def test_a_patch_map_brings_back_all_at_the_last_position_of_the_last_layer(tiny_model: Make) -> None:
    found = patch_map(tiny_model("gpt2").loaded, "The cat.", "The dog?", output="a")
    assert found.effect.shape == (2, 8)
    assert found.effect[1, 7] == pytest.approx(1, abs=1e-3)
    assert found.effect[1, 3] == pytest.approx(0, abs=1e-6)
    assert "svg" in found.figure().svg
    with pytest.raises(TraceError, match="different lengths"):
        patch_map(tiny_model("gpt2").loaded, "The cat.", "A", output="a")


def test_edits_work_together_and_end_together(tiny_model: Make) -> None:
    model = tiny_model("marian")
    untouched = run(model)["logits"]
    edits = [
        clearhead.ablate("decoder.0.self", head=0),
        clearhead.skip("encoder.1"),
        clearhead.drop("cross", position=0),
    ]
    with model.edit(*edits[:1]), model.edit(*edits[1:]):
        run_ = model.trace(TEXT, **STEPS)
    assert not run_["decoder.0.self.mixed"][:, 0].any() and not run_["decoder.1.cross.pattern"][..., 0].any()
    np.testing.assert_array_equal(run_["encoder.1.resid_post"], run_["encoder.1.resid_pre"])
    assert not np.array_equal(run_["logits"][:, 0], untouched[:, 0])
    np.testing.assert_array_equal(run(model)["logits"], untouched)


@pytest.mark.parametrize(
    "text",
    [
        "ablate:decoder.1.cross:head=1",
        "scale:decoder.*.self:factor=4",
        "look:decoder.0.cross:query=1,key=0",
        "drop:encoder:position=1+2",
        "swap:encoder:first=0,second=2",
        "open-mask:decoder",
        "skip:decoder.1",
        "look:decoder.0.cross:query=0,weights=1+3,normalise=true",
    ],
)
def test_edits_by_name(tiny_model: Make, text: str) -> None:
    found = compare(tiny_model("marian").loaded, TEXT, [parse_edit(text)], max_new_tokens=4, beams=1)
    assert found.shifts and all(0 <= one.before <= 1 and 0 <= one.after <= 1 for one in found.shifts)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ablat:decoder.0.self", "ablate"),
        ("ablate", "EDIT:PART"),
        ("ablate:decoder.0.self:heads=1", "head"),
        ("scale:decoder.0.self", "needs factor"),
        ("drop:encoder:position=x", "whole number"),
        ("drop:encoder:position", "setting=value"),
        ("ablate::head=1", "EDIT:PART"),
    ],
)
def test_edits_that_are_not_known_are_explained(text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_edit(text)
    assert hint in str(caught.value)


def test_edits_of_what_is_not_there_are_refused(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    with pytest.raises(TraceError, match="does not exist"):
        run(model, clearhead.skip("decoder.7"))
    with pytest.raises(TraceError, match="head that is not there"):
        run(model, clearhead.ablate("decoder.0.self", head=9))
    for wrong in (
        lambda: clearhead.drop("nowhere", position=1),
        lambda: clearhead.swap("x", first=0, second=1),
        lambda: clearhead.drop("encoder", position=-1),
    ):
        with pytest.raises(TraceError):
            wrong()


def test_a_reading_model_is_compared_by_its_probabilities(tiny_model: Make) -> None:
    found = compare(tiny_model("bert").loaded, TEXT, [clearhead.skip("encoder.0")])
    assert found.before == found.after == "" and found.shifts
