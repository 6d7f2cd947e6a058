"""Where looking inside could go wrong quietly: edited runs, padded batches, gaps, forced ids, unlike lengths."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import clearhead
from clearhead import tasks
from clearhead.config import SIZES, HeadKind, TokenIds, architecture
from clearhead.errors import ClearheadError, ConfigError, TraceError
from clearhead.explain import Run, as_data, compare, freeze, parse_edit, patch
from clearhead.explain.alignment import _words
from clearhead.explain.pictures import draw_sites
from clearhead.model import Model
from clearhead.models import build
from clearhead.tasks import Loaded
from clearhead.testing import ByteTokenizer
from clearhead.trace import Token, load_trace, save_trace
from clearhead.weights import Checkpoint

Make = Callable[..., Model]
TEXT = "The cat."
EDITS = {
    "ablate": lambda: clearhead.ablate("decoder.0.self", head=1),
    "skip": lambda: clearhead.skip("decoder.1"),
    "swap": lambda: clearhead.swap("decoder", first=1, second=3),
    "look": lambda: clearhead.look_at("decoder.0.self", query=2, key=0),
    "scale": lambda: clearhead.scale_scores("decoder.0.self", factor=3),
    "drop": lambda: clearhead.drop("decoder", position=1),
    "open": lambda: clearhead.open_mask("decoder"),
}


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_run_never_opens_into_what_does_not_recompute(tiny_model: Make, kind: str, edit: str) -> None:
    model = tiny_model(kind)
    with model.edit(EDITS[edit]()):
        run = model.trace(TEXT)
    draw = np.random.default_rng(0)
    for site in run:
        index = tuple(int(draw.integers(0, n)) for n in run[site].shape)
        node = run.book.at(site, *index)
        assert node.recomputed == pytest.approx(node.value, abs=1e-5 * max(1.0, abs(node.value))), node.name
    if edit == "skip":
        with pytest.raises(TraceError, match="stream of this run was edited"):
            run.why("logits", by="block", T=0, V=0)
    else:
        node = run.why("logits", by="block", T=-1, V=5)
        assert node.recomputed == pytest.approx(node.value, abs=1e-4)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
@pytest.mark.parametrize("edit", ["ablate", "skip", "look", "drop", "swap"])
def test_edits_of_a_batch_are_edits_of_each_text(tiny_model: Make, kind: str, edit: str) -> None:
    loaded = tiny_model(kind).loaded
    texts = ["abcd", "The cat sat on", "hello w"]
    options = {"temperature": 0, "max_new_tokens": 4}
    with tiny_model(kind).edit(EDITS[edit]()):
        together = [found[0].text for found in tasks.complete(loaded, texts, **options)]
        alone = [tasks.complete(loaded, [text], **options)[0][0].text for text in texts]
    assert together == alone


def test_the_gap_of_a_masked_text_is_a_mask(tiny_model: Make) -> None:
    model = tiny_model("bert")
    run = model.trace("a<mask>b")
    mask = model.tokenizer.special.mask
    assert [token.id for token in run.trace.source].count(mask) == 1
    found = compare(model.loaded, "a<mask>b", [clearhead.skip("encoder.0")])
    place = [token.id for token in run.trace.source].index(mask)
    shares = np.exp(run["logits"][0, place] - run["logits"][0, place].max())
    best = found.shifts[0]
    index = next(i for i in range(len(shares)) if model.tokenizer.name_of(i) == best.output)
    assert best.before == pytest.approx(float(shares[index] / shares.sum()), rel=1e-4)


def test_outputs_that_stand_for_no_piece_have_numbers() -> None:
    tokenizer = ByteTokenizer()
    size = replace(SIZES["tiny"], width=16, n_heads=2, feedforward_width=24, n_layers=1)
    config = architecture("t5", size=size, vocab_size=tokenizer.vocab_size + 20)
    config = replace(config, tokens=TokenIds(pad=0, end=(2,), decoder_start=0))
    checkpoint = Checkpoint(model=build(config, seed=0), family="t5", foreign={}, generation={})
    model = Model(loaded=Loaded(checkpoint=checkpoint, tokenizer=tokenizer))
    run = model.trace("abc", "xy")
    assert "#" in run.why("logits", T=0, V=tokenizer.vocab_size + 3).name
    assert run.lens().words and run.why("loss").children


def test_a_forced_id_is_said_to_be_forced(tiny_model: Make) -> None:
    run = tiny_model("marian").generate("abc", trace="*", beams=2, max_new_tokens=4, forced_end=2)
    score = run.why("score")
    assert score.value == pytest.approx(run.trace.score, rel=1e-4)
    assert any("forced" in node.name for _, node in score.walk(2))


def test_longer_runs_do_not_fit_shorter_ones(tiny_model: Make) -> None:
    model = tiny_model("bert")
    long = model.trace("a much longer text").trace
    for edit in (
        freeze(long, "encoder.*.self"),
        patch(long, "encoder.0.resid_post"),
        patch(long, "encoder.0.self.pattern"),
    ):
        with pytest.raises(TraceError), model.edit(edit):
            model.trace("ab")
    other = tiny_model("gpt2").trace(TEXT).trace
    with (
        pytest.raises(TraceError, match="without heads"),
        tiny_model("gpt2").edit(patch(other, "decoder.0.resid_post", head=1)),
    ):
        tiny_model("gpt2").trace(TEXT)


def test_keys_and_values_can_be_brought_over(tiny_model: Make) -> None:
    model = tiny_model("llama")
    other = model.trace("A dog!!!")
    with model.edit(patch(other.trace, "decoder.0.self.value", position=2)):
        run = model.trace(TEXT)
    np.testing.assert_array_equal(run["decoder.0.self.value"][:, :, 2], other["decoder.0.self.value"][:, :, 2])


@pytest.mark.parametrize(
    "edit",
    [
        lambda: clearhead.drop("decoder", position=99),
        lambda: clearhead.look_at("decoder.0.self", query=99, key=0),
        lambda: clearhead.swap("decoder", first=1, second=40),
    ],
)
def test_edits_that_change_nothing_say_so(tiny_model: Make, edit: Callable[[], object]) -> None:
    model = tiny_model("gpt2")
    with pytest.raises(TraceError, match="changed nothing"), model.edit(edit()):  # type: ignore[arg-type]
        model.trace(TEXT)


def test_the_order_of_edits_does_not_matter(tiny_model: Make) -> None:
    model = tiny_model("gpt2")
    found = []
    for order in (1, -1):
        edits = [clearhead.swap("decoder", first=1, second=3), clearhead.look_at("decoder.0.self", query=1, key=0)]
        with model.edit(*edits[::order]):
            found.append(model.trace(TEXT)["logits"])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    "text",
    [
        "ablate:decoder.0.self:head=1.5",
        "drop:decoder:position=1.5",
        "drop:decoder:position=true",
        "scale:decoder.0.self:factor=1+2",
        "look:decoder.0.self:query=0,key=0+1",
        "swap:decoder:first=1+2,second=3",
        "look:decoder.0.self:query=1.5,key=0",
        "look:decoder.0.self:query=1,key=1000000000000",
    ],
)
def test_settings_of_the_wrong_kind_are_refused(tiny_model: Make, text: str) -> None:
    with pytest.raises((TraceError, ConfigError)), tiny_model("gpt2").edit(parse_edit(text)):
        tiny_model("gpt2").trace(TEXT)


def test_cells_that_were_never_computed_are_blank_and_not_opened(tiny_model: Make) -> None:
    run = tiny_model("gpt2").generate("ab", trace="*", temperature=0, max_new_tokens=4)
    assert np.isnan(run["decoder.0.self.score"][0, 0, 2, 3])
    with pytest.raises(TraceError, match="never computed"):
        run.why("decoder.0.self.score", H=0, Q=2, K=3)
    assert "not computed" in run.heatmap("decoder.0.self.score").svg
    assert "·" in run.heatmap("decoder.0.self.score", head=0).terminal()


def test_like_shapes_of_unlike_tokens_are_not_drawn_together(tiny_model: Make) -> None:
    run = tiny_model("marian").trace("abc", "xyz")
    assert run["encoder.0.self.pattern"].shape == run["decoder.0.self.pattern"].shape
    with pytest.raises(TraceError, match="do not fit one picture"):
        draw_sites(run, "*.self.pattern")


def test_a_typo_among_several_sites_is_said(tiny_model: Make) -> None:
    with pytest.raises(TraceError, match="no site of this name"):
        tiny_model("gpt2").trace(TEXT, sites=("logits", "decoder.0.self.patern"))


def test_hindi_words_stay_whole() -> None:
    tokens = [Token(id=0, piece=piece) for piece in ("▁कि", "ता", "ब", "▁है", "ं", "।")]
    assert _words(tokens)[0] == ("किताब", "हैं", "।")


def test_a_trace_belongs_to_its_model(tiny_model: Make) -> None:
    run = tiny_model("gpt2").trace(TEXT)
    with pytest.raises(TraceError, match="another model"):
        Run(trace=run.trace, network=tiny_model("llama").network)


def test_questions_that_a_model_cannot_answer(tiny_model: Make) -> None:
    classifier = tiny_model("bert", HeadKind.SEQUENCE_CLASSIFICATION).trace(TEXT)
    assert classifier.why("log_probability", V="good").value < 0
    for run in (classifier, tiny_model("bert").trace(TEXT)):
        with pytest.raises(TraceError, match="no next token"):
            run.why("loss")


def test_what_is_told_as_data_stays_small(tiny_model: Make) -> None:
    node = tiny_model("gpt2").trace(TEXT).why("logits", T=0, V=5)
    data = as_data(node, depth=2, most=3)
    assert len(data["children"]) == 3 and data["rest"]["count"] == len(node.children) - 3
    assert sum(child["value"] for child in data["children"]) + data["rest"]["sum"] == pytest.approx(node.recomputed)
    json.dumps(data, allow_nan=False)


def hostile(path: Path, change: Callable[[dict[str, object]], None]) -> Path:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    facts = json.loads(header["__metadata__"]["trace"])
    change(facts)
    header["__metadata__"]["trace"] = json.dumps(facts)
    new = json.dumps(header).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + content[8 + length :])
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.update(config={"x": [[]] * 9_000_000}),
        lambda facts: facts.update(n_prompt=-5),
        lambda facts: facts.update(n_prompt=10**9),
        lambda facts: facts["target"][0].update(id=-7),
        lambda facts: facts["sites"]["logits"].update(axes="BVT"),
    ],
)
def test_a_hostile_account_is_refused(
    tiny_model: Make, tmp_path: Path, change: Callable[[dict[str, object]], None]
) -> None:
    path = save_trace(tiny_model("gpt2").trace("ab", sites="logits").trace, tmp_path / "t.safetensors")
    with pytest.raises(TraceError):
        load_trace(hostile(path, change))


@pytest.mark.parametrize("name", ["x.gz", "t.safetensors.gz"])
def test_a_zipped_trace_is_refused_before_anything_runs(tiny_model: Make, tmp_path: Path, name: str) -> None:
    with pytest.raises(TraceError, match="not zipped"):
        tiny_model("gpt2").trace(TEXT, out=tmp_path / name)
    run = tiny_model("gpt2").trace(TEXT, out=tmp_path / "new" / "t.safetensors")
    assert isinstance(run, Run) and (tmp_path / "new" / "t.safetensors").is_file()
    (tmp_path / "file").write_text("")
    with pytest.raises(ClearheadError):
        tiny_model("gpt2").trace(TEXT, out=tmp_path / "file" / "t.safetensors")
