"""A run can be asked why, drawn, looked through; what cannot be asked is explained."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch

import clearhead
from clearhead.config import HeadKind
from clearhead.errors import TraceError
from clearhead.explain import align, alignment_error_rate, as_data, as_html, as_text, summaries, word_similarity
from clearhead.explain.gradients import AdamW, Backward
from clearhead.explain.pictures import draw_sites
from clearhead.model import Model

Make = Callable[..., Model]
TEXT = "The cat."


def test_places_are_numbers_or_tokens(tiny_model: Make) -> None:
    run = tiny_model("gpt2").trace(TEXT)
    last = run.why("logits", T=-1, V="a")
    assert last.value == pytest.approx(float(run["logits"][0, -1, run.tokenizer.id_of("a")]))  # type: ignore[union-attr]
    assert run.why("decoder.0.self.score", H=1, Q="c", K="T").address.index == (0, 1, 4, 0)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("site", "index", "hint"),
    [
        ("decoder.0.self.patern", {}, "did you mean"),
        ("logits", {"T": 0}, "which place along V"),
        ("logits", {"T": 99, "V": 0}, "from 0 to 7"),
        ("logits", {"Q": 0}, "no axis Q"),
        ("decoder.0.self.score", {"H": 0, "Q": "zzz", "K": 0}, "does not stand there"),
        ("decoder.0.self.score", {"H": "a", "Q": 0, "K": 0}, "no tokens stand"),
        ("logits", {"T": 0, "V": "ab"}, "several pieces"),
    ],
)
def test_what_cannot_be_asked_is_explained(tiny_model: Make, site: str, index: dict[str, int | str], hint: str) -> None:
    with pytest.raises(TraceError) as caught:
        tiny_model("gpt2").trace(TEXT).why(site, **index)
    assert hint in str(caught.value)


def test_a_token_that_stands_twice_needs_its_number(tiny_model: Make) -> None:
    with pytest.raises(TraceError, match="more than once"):
        tiny_model("gpt2").trace("aba").why("decoder.0.self.score", H=0, Q="a", K=0)


def test_a_number_prints_as_text_data_and_page(tiny_model: Make) -> None:
    node = tiny_model("gpt2").trace("a<b&").why("decoder.0.self.pattern", H=0, Q=3, K=1)
    text = as_text(node, depth=3)
    assert "nn/attention/attend.py" in text and "exp(" in text
    data = as_data(node, depth=2)
    assert json.loads(json.dumps(data))["recomputed"] == pytest.approx(data["value"], abs=1e-6)
    page = as_html(node, depth=3)
    assert "<details" in page and "<b&" not in page and "http" not in page


def test_smaller_terms_are_counted_and_not_lost(tiny_model: Make) -> None:
    node = tiny_model("gpt2").trace(TEXT).why("logits", T=0, V=5)
    assert f"{len(node.children) - 2} smaller terms together" in as_text(node, most=2)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "t5", "marian", "bert"])
def test_the_lens_after_the_last_layer_is_what_the_model_says(tiny_model: Make, kind: str) -> None:
    model = tiny_model(kind)
    run = model.trace(TEXT) if kind in ("gpt2", "llama", "bert") else model.trace(TEXT, "Le ch")
    lens = run.lens()
    expected = torch.tensor(run["logits"]).softmax(-1).numpy()[0]
    np.testing.assert_allclose(lens.shares[-1], expected.max(-1), atol=1e-5)
    followed = run.lens(V=7)
    np.testing.assert_allclose(followed.shares[-1], expected[:, 7], atol=1e-5)
    assert len({word for row in followed.words for word in row}) == 1
    with pytest.raises(TraceError, match="not there"):
        run.lens(V=expected.shape[1])
    assert lens.figure().svg.startswith("<svg")


def test_the_lens_of_a_classifier_reads_its_labels(tiny_model: Make) -> None:
    run = tiny_model("bert", HeadKind.SEQUENCE_CLASSIFICATION).trace(TEXT)
    lens = run.lens()
    assert lens.positions == ("the text",) and set(lens.words[-1]) <= {"bad", "good"}
    with pytest.raises(TraceError, match="no probabilities"):
        tiny_model("bert", HeadKind.SENTENCE).trace(TEXT).lens()


def test_heads_are_summed_up() -> None:
    n = 6
    before = np.eye(n, k=-1)
    before[0, 0] = 1
    first = np.zeros((n, n))
    first[:, 0] = 1
    flat = np.full((n, n), 1 / n)
    found = summaries({"decoder.0.self.pattern": np.stack([before, first, np.eye(n), flat])[None]})
    assert [one.kind for one in found] == ["previous token", "first token", "itself", "spread"]
    assert found[0].previous == pytest.approx(1) and found[2].own == 1
    assert found[3].entropy == pytest.approx(np.log2(n)) and found[1].entropy == 0
    with pytest.raises(TraceError):
        summaries({})


def test_words_are_aligned_by_what_they_look_at(tiny_model: Make) -> None:
    model = tiny_model("marian")
    found = align(model.trace(TEXT, "Le chat", sites="decoder.*.cross.pattern").trace)
    assert "".join(found.source).replace("Ġ", "") == "Thecat." and found.weights.shape == (
        len(found.target),
        len(found.source),
    )
    assert {target for _, target in found.links} == set(range(len(found.target)))
    with pytest.raises(TraceError, match="no cross-attention"):
        align(tiny_model("gpt2").trace(TEXT).trace)


def test_the_alignment_error_rate_is_och_and_neys() -> None:
    sure, possible = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)}
    assert alignment_error_rate(sure, sure=sure) == 0
    assert alignment_error_rate({(0, 0), (1, 2)}, sure=sure, possible=possible) == pytest.approx(1 - (1 + 2) / 4)
    assert alignment_error_rate({(5, 5)}, sure=sure) == 1


def test_one_word_in_two_sentences(tiny_model: Make) -> None:
    loaded = tiny_model("bert").loaded
    same = word_similarity(loaded, "a bank", "a bank", word="bank")
    assert [value for _, value in same] == pytest.approx([1.0] * 3, abs=1e-5)
    other = word_similarity(loaded, "a bank", "o bank", word="bank")
    assert other[0][1] == pytest.approx(1, abs=1e-5) and other[-1][1] < 1
    with pytest.raises(clearhead.ClearheadError, match="without the word"):
        word_similarity(loaded, "a bank", "nothing", word="bank")


@pytest.mark.parametrize(
    ("kind", "parameter"),
    [
        ("gpt2", "decoder.blocks.0.ffn.down.weight"),
        ("marian", "decoder.blocks.1.cross_attention.output.weight"),
        ("flan-t5", "head.untied.weight"),
    ],
)
def test_one_gradient_and_one_step_recompute(tiny_model: Make, kind: str, parameter: str) -> None:
    model = tiny_model(kind)
    ids = [5, 9, 7, 30, 8]
    back = Backward(network=model.network, ids=ids, source_ids=[4, 6, 8] if kind != "gpt2" else ())  # type: ignore[arg-type]
    assert all(each.grad is None for each in model.network.parameters())
    row, column = (9, 3) if "untied" in parameter else (2, 3)
    node = back.gradient(parameter, row, column)
    scale = max(1.0, float(np.abs(back.gradients[parameter]).max()))
    assert node.recomputed == pytest.approx(node.value, abs=1e-5 * scale)
    for child in node.children:
        assert child.recomputed == pytest.approx(child.value, abs=1e-6)
        for deeper in child.children:
            assert deeper.recomputed == pytest.approx(deeper.value, abs=1e-6)
    settings = AdamW(lr=1e-2, decay=0.1)
    update = back.update(parameter, row, column, settings=settings)
    weight = torch.nn.Parameter(dict(model.network.named_parameters())[parameter].detach().clone())
    weight.grad = torch.tensor(back.gradients[parameter])
    torch.optim.AdamW([weight], lr=1e-2, weight_decay=0.1).step()
    assert update.value == pytest.approx(float(weight[row, column].detach()), abs=1e-6)
    with pytest.raises(TraceError, match="no such parameter"):
        back.gradient("decoder.blocks.9.ffn.down.weight", 0, 0)


def test_pictures_of_a_run(tiny_model: Make) -> None:
    run = tiny_model("marian").trace(TEXT, beams=3, max_new_tokens=4)
    assert len(run.heatmap("decoder.0.cross.pattern").panels.titles) == 2  # type: ignore[union-attr]
    assert len(run.heatmap("decoder.0.cross.pattern", head=1).panels.titles) == 1  # type: ignore[union-attr]
    assert len(draw_sites(run, "decoder.*.cross.pattern").panels.titles) == 4  # type: ignore[union-attr]
    assert "★" in run.beams().terminal() and "<line" in run.alignment("decoder.1.cross.pattern").svg
    assert "decoder.1.ffn.output" in run.contributions(T=0, V=4).terminal()
    assert run.heatmap("encoder.0.resid_post").svg and run.heatmap("decoder.0.self.score").svg
    with pytest.raises(TraceError):
        run.heatmap("decoder.0.cross.pattern", head=5)
    with pytest.raises(TraceError, match="not recorded"):
        draw_sites(run, "decoder.*.patern")
    with pytest.raises(TraceError, match="do not fit one picture"):
        draw_sites(run, "*.pattern")
    with pytest.raises(TraceError, match="no beams"):
        tiny_model("gpt2").trace(TEXT).beams()


def test_weights_in_eight_bits_are_traced_and_not_opened(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    small = Model(loaded=clearhead.tasks.Loaded(checkpoint=model.checkpoint, tokenizer=model.tokenizer, weights="int8"))  # type: ignore[attr-defined]
    run = small.trace(TEXT)
    assert run["logits"].shape == (1, 8, run.trace.sites["logits"].shape[2])
    with pytest.raises(TraceError, match="8 bits"):
        run.why("logits", T=0, V=0)
