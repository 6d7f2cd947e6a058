"""A folder that was trained here opens in the reference, with the same outputs, whatever the task."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

import clearhead
from clearhead.config import SIZES, TokenIds, architecture
from clearhead.data import Record, Source, Task, make_tokenizer
from clearhead.errors import TextError, TrainingError, WeightsError
from clearhead.models import build
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import source_ids
from clearhead.testing import TinyModel
from clearhead.text import load_tokenizer
from clearhead.training import Progress
from clearhead.training.job import make_job
from clearhead.training.materials import _progress
from clearhead.training.train import Finished, _score_range, train
from clearhead.weights import Checkpoint, save_checkpoint

WORDS = ["cat", "dog", "bird", "fish", "house", "tree", "river", "stone", "cloud", "road"]
TEXTS = [f"The {a} is near the {b}." for a in WORDS for b in WORDS if a != b]
QUICK = ["train.steps=4", "evaluation.sentences=4", "tokenizer.vocab_size=300", "train.batch.max_tokens=400"]


def run(
    folder: Path,
    task: Task,
    lines: list[str],
    *,
    kind: str = "tsv",
    overrides: list[str] | None = None,
    tag: str | None = None,
) -> Finished:
    path = folder / f"data.{kind}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    job = make_job(task, preset="tiny", overrides=[*QUICK, *(overrides or [])])
    finished = train(job, sources=[Source(paths=(path,), task=task, tag=tag)], folder=folder / "run")
    assert finished.folder == folder / "run"
    return finished


def close(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    return torch.allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_translator(tmp_path: Path, kind: str) -> None:
    pairs = [f"{text}\t{text.upper()}" for text in TEXTS]
    run(tmp_path, Task.TRANSLATE, pairs, overrides=[f"tokenizer.kind={kind}"])
    ours = clearhead.load(tmp_path / "run")
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "run").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "run")
    ids = ours.tokenizer.encode(TEXTS[0]).ids
    assert list(ids) == tokenizer(TEXTS[0]).input_ids
    pad = ours.config.tokens.pad
    assert pad == ours.tokenizer.vocab_size - 1
    target = torch.tensor([[pad, 5, 9]])
    with torch.no_grad():
        found = ours.network(torch.tensor([ids]), target).logits_BTV
        assert close(found, theirs(input_ids=torch.tensor([ids]), decoder_input_ids=target).logits)
    written = theirs.generate(torch.tensor([ids]), max_new_tokens=12)
    text = tokenizer.decode(written[0], skip_special_tokens=True)
    assert ours.translate(TEXTS[0], max_new_tokens=12) == text


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_language_model(tmp_path: Path, name: str) -> None:
    run(
        tmp_path,
        Task.LANGUAGE_MODEL,
        TEXTS,
        kind="txt",
        overrides=[f"model.architecture={name}", "train.batch.window=16"],
    )
    ours = clearhead.load(tmp_path / "run")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "run").eval()
    ids = torch.tensor([ours.tokenizer.encode(TEXTS[0]).ids])
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "run")(TEXTS[0]).input_ids == ids[0].tolist()
    with torch.no_grad():
        assert close(ours.network(ids).logits_BTV, theirs(ids).logits)


def test_a_masked_language_model(tmp_path: Path) -> None:
    run(tmp_path, Task.MASKED_LANGUAGE_MODEL, TEXTS, kind="txt")
    ours = clearhead.load(tmp_path / "run")
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "run").eval()
    ids = torch.tensor([ours.tokenizer.encode(TEXTS[0]).ids])
    with torch.no_grad():
        assert close(ours.network(ids).logits, theirs(ids).logits)
    assert len(ours.fill("The [MASK] is near.", n=3)[0]) == 3
    samples = [json.loads(line) for line in (tmp_path / "run/samples.jsonl").read_text().splitlines()]
    assert samples
    assert all(sample["source"].count("[MASK]") == 1 and sample["expected"] for sample in samples)


def test_a_classifier(tmp_path: Path) -> None:
    lines = [f"{text}\t{'wet' if 'fish' in text or 'river' in text else 'dry'}" for text in TEXTS]
    run(tmp_path, Task.CLASSIFY, lines)
    ours = clearhead.load(tmp_path / "run")
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "run").eval()
    assert theirs.config.id2label == {0: "dry", 1: "wet"}
    ids = torch.tensor([ours.tokenizer.encode(TEXTS[0]).ids])
    with torch.no_grad():
        assert close(ours.network(ids).logits, theirs(ids).logits)
    assert {label.label for label in ours.classify(TEXTS[0])} == {"dry", "wet"}
    samples = [json.loads(line) for line in (tmp_path / "run/samples.jsonl").read_text().splitlines()]
    assert samples
    assert {sample["expected"] for sample in samples} <= {"dry", "wet"}
    for sample in samples:
        assert sample["source"] in {text.lower() for text in TEXTS} | set(TEXTS)
    (row,) = json.loads((tmp_path / "run/evaluation.json").read_text())["by_length"]
    held = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    (best,) = [line["evaluation"]["accuracy"] for line in held if line.get("step") == 4 and "evaluation" in line]
    assert row["measures"]["accuracy"] == pytest.approx(best)


def test_a_sentence_encoder(tmp_path: Path) -> None:
    lines = [
        f"{first}\t{second}\t{5.0 * (first[4:7] == second[4:7])}"
        for first, second in zip(TEXTS, TEXTS[5:], strict=False)
    ]
    run(tmp_path, Task.SIMILARITY, lines)
    ours = clearhead.load(tmp_path / "run")
    theirs = transformers.AutoModel.from_pretrained(tmp_path / "run").eval()
    ids = torch.tensor([ours.tokenizer.encode(TEXTS[0]).ids])
    with torch.no_grad():
        vector = torch.nn.functional.normalize(theirs(ids).last_hidden_state.mean(1), dim=-1)[0]
    assert close(torch.as_tensor(ours.embed(TEXTS[0])), vector)


def test_what_no_layout_has_a_place_for_is_told_first(tmp_path: Path) -> None:
    pairs = [f"{text}\t{text.upper()}" for text in TEXTS]
    with pytest.raises(WeightsError, match="no published layout"):
        run(tmp_path, Task.TRANSLATE, pairs, overrides=["model.architecture=original"])
    assert not (tmp_path / "run/metrics.jsonl").exists()


@pytest.mark.parametrize("family", ["t5", "marian", "gpt2"])
def test_a_published_model_is_trained_on(tmp_path: Path, family: str) -> None:
    start = clearhead.Model.of(TinyModel(family).model, tokenizer=TinyModel(family).tokenizer)
    start.save_pretrained(tmp_path / "start")
    task = Task.LANGUAGE_MODEL if family == "gpt2" else Task.TRANSLATE
    lines = TEXTS if family == "gpt2" else [f"{text}\t{text.upper()}" for text in TEXTS]
    more = [f"model.start={tmp_path / 'start'}", "train.batch.window=16", "train.lr=0.01"]
    kind, tag = ("txt", None) if family == "gpt2" else ("tsv", "fr")
    run(tmp_path, task, lines, kind=kind, overrides=more, tag=tag)
    before, after = clearhead.load(tmp_path / "start"), clearhead.load(tmp_path / "run")
    old, new = (dict(each.network.named_parameters()) for each in (before, after))
    assert old.keys() == new.keys()
    assert all(not torch.equal(old[name], new[name]) for name in old if "blocks" in name and "weight" in name)
    if family == "t5":  # its decoder starts with the vector of padding, which marian's keeps at zero
        assert after.network.decoder.embedding.token.weight[start.tokenizer.special.pad].any()
    theirs = transformers.AutoModel.from_pretrained(tmp_path / "run")
    assert theirs.config.model_type == family


@pytest.mark.parametrize(
    ("family", "task"), [("t5", Task.LANGUAGE_MODEL), ("gpt2", Task.TRANSLATE), ("gpt2", Task.CLASSIFY)]
)
def test_a_model_that_cannot_learn_a_task_is_refused_first(tmp_path: Path, family: str, task: Task) -> None:
    tiny = TinyModel(family)
    clearhead.Model.of(tiny.model, tokenizer=tiny.tokenizer).save_pretrained(tmp_path / "start")
    with pytest.raises(TrainingError, match="cannot be trained to"):
        run(tmp_path, task, ["a\tb"] * 20, overrides=[f"model.start={tmp_path / 'start'}"])
    assert not (tmp_path / "run").exists()


def test_texts_are_no_longer_than_a_model_has_places_for(tmp_path: Path) -> None:
    lines = [f"{text} {text} {text}\t{'wet' if 'fish' in text else 'dry'}" for text in TEXTS]
    finished = run(tmp_path, Task.CLASSIFY, lines, overrides=["model.max_length=12"])
    store = finished.materials.prepared.train
    assert int(store.lengths("text").max()) == 12
    assert finished.materials.prepared.report.truncated > 0


def test_a_run_keeps_the_tokenizer_that_it_started_with(tmp_path: Path) -> None:
    run(tmp_path, Task.MASKED_LANGUAGE_MODEL, TEXTS, kind="txt")
    (tmp_path / "second").mkdir()
    lines = [f"{text}\t{'wet' if 'fish' in text else 'dry'}" for text in TEXTS]
    run(tmp_path / "second", Task.CLASSIFY, lines, overrides=[f"model.start={tmp_path / 'run'}"])
    kept = load_tokenizer(tmp_path / "second/run/data")
    assert kept.encode(TEXTS[0]) == clearhead.load(tmp_path / "run").tokenizer.encode(TEXTS[0])


def test_a_loaded_model_is_trained_on(tmp_path: Path) -> None:
    run(tmp_path, Task.MASKED_LANGUAGE_MODEL, TEXTS, kind="txt")
    (tmp_path / "second").mkdir()
    lines = [f"{text}\t{'wet' if 'fish' in text else 'dry'}" for text in TEXTS]
    run(tmp_path / "second", Task.CLASSIFY, lines, overrides=[f"model.start={tmp_path / 'run'}"])
    before, after = clearhead.load(tmp_path / "run").network, clearhead.load(tmp_path / "second/run").network
    first, second = (each.encoder.blocks[0].ffn.up.weight for each in (before, after))
    assert first.shape == second.shape
    assert not torch.equal(first, second)
    assert torch.allclose(first, second, atol=0.05)


def start_folder(folder: Path, name: str, *tags: str) -> Path:
    """A tiny translator that knows nothing, with a tag for each language."""
    records = [Record(source=text, target=text.upper(), tag=tag) for text in TEXTS for tag in tags or (None,)]
    tokenizer = make_tokenizer(records, task=Task.TRANSLATE, vocab_size=300)
    special = tokenizer.special
    assert special.end is not None
    tokens = TokenIds(pad=special.pad, end=(special.end,), decoder_start=special.pad)
    config = replace(architecture(name, size=SIZES["tiny"], vocab_size=tokenizer.vocab_size), tokens=tokens)
    save_checkpoint(Checkpoint(model=build(config, seed=0), family=name, foreign={}, generation={}), folder)
    tokenizer.save(folder)
    return folder


def go_on(folder: Path, start: Path, **settings: object) -> Finished:
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{text}\t{text.upper()}\n" for text in TEXTS))
    job = make_job(Task.TRANSLATE, preset="tiny", overrides=[*QUICK, "train.steps=1", f"model.start={start}"])
    return train(job, sources=[Source(paths=(path,), task=Task.TRANSLATE, **settings)], folder=folder / "run")


def test_a_t5_goes_on_learning_from_the_words_that_it_is_asked_with(tmp_path: Path) -> None:
    start = start_folder(tmp_path / "t5", "t5")
    prepared = go_on(tmp_path, start, tag="fr").materials.prepared
    learned = {tuple(map(int, prepared.train.ids("source", row))) for row in range(len(prepared.train))}
    measured = {tuple(map(int, prepared.validation.ids("source", row))) for row in range(len(prepared.validation))}
    asked = source_ids(Loaded.open(start), TEXTS, prefix="translate English to French: ")
    assert learned | measured == set(asked)


def test_a_t5_must_be_told_its_language(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="several languages") as caught:
        go_on(tmp_path, start_folder(tmp_path / "t5", "t5"))
    assert "French" in str(caught.value)


def test_a_translator_of_several_languages_keeps_its_tags(tmp_path: Path) -> None:
    start = start_folder(tmp_path / "polyglot", "marian", "de", "fr")
    finished = go_on(tmp_path, start, tag="fr")
    loaded, prepared = Loaded.open(start), finished.materials.prepared
    firsts = {int(prepared.train.ids("source", row)[0]) for row in range(len(prepared.train))}
    assert firsts == {loaded.tags["fr"]}
    (tmp_path / "second").mkdir()
    with pytest.raises(TextError, match="target language") as caught:
        go_on(tmp_path / "second", start)
    assert "de, fr" in str(caught.value)


class Told(Progress):
    """Remembers what a run says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines += text.splitlines()


def test_a_small_text_may_hold_out_less_than_a_window(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS[:20]))
    job = make_job(Task.LANGUAGE_MODEL, preset="tiny", overrides=[*QUICK, "train.batch.window=64"])
    finished = train(job, sources=[Source(paths=(path,), task=Task.LANGUAGE_MODEL)], folder=tmp_path / "run")
    held = finished.materials.prepared.validation
    assert held.n_tokens <= 64
    (batch,) = finished.materials.validation.once()
    assert batch["text"].tolist() == [held.stream("text").tolist()]


def test_weights_reach_a_language_models_windows(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.txt" for name in ("one", "other")]
    for path, texts in zip(paths, (TEXTS[:45], TEXTS[45:]), strict=True):
        path.write_text("".join(f"{text}\n" for text in texts))
    sources = [
        Source(paths=(path,), task=Task.LANGUAGE_MODEL, weight=weight)
        for path, weight in zip(paths, (1.0, 30.0), strict=True)
    ]
    job = make_job(Task.LANGUAGE_MODEL, preset="tiny", overrides=[*QUICK, "train.batch.window=16", "train.steps=1"])
    materials = train(job, sources=sources, folder=tmp_path / "run").materials
    store, windows = materials.prepared.train, materials.train.windows
    n_first = int(store.lengths("text")[store.values("origin") == 0].sum())
    n_other = store.n_tokens - n_first
    assert windows.steps_per_epoch() == (n_first + 30 * n_other - 1) // (windows.length * windows.n_rows)


def test_what_was_read_and_dropped_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearhead.training.materials._SAY_EVERY", 10)
    lines = {"train.tsv": [f"{text}\t{text.upper()}" for text in TEXTS[:60]]}
    lines["held.tsv"] = [f"{text}\t{text.upper()}" for text in (*TEXTS[60:], *TEXTS[60:65])]
    for name, pairs in lines.items():
        (tmp_path / name).write_text("\n".join(pairs) + "\n")
    told = Told()
    job = make_job(Task.TRANSLATE, preset="tiny", overrides=[*QUICK, "train.steps=1"])
    source, held = (Source(paths=(tmp_path / name,), task=Task.TRANSLATE) for name in lines)
    train(job, sources=[source], validation=[held], folder=tmp_path / "run", progress=told)
    assert "kept 60 of 60 examples" in told.lines
    assert "of the validation files: 30 kept of 35, 5 duplicate" in told.lines
    assert [line for line in told.lines if line.endswith("encoded")] == ["30 examples encoded", "90 examples encoded"]


def test_a_long_preparation_says_how_far_it_is() -> None:
    said: list[str] = []
    tell = _progress(said.append)
    for n_records in range(1000, 250_001, 1000):
        tell(n_records)
    assert said == ["100,000 examples encoded", "200,000 examples encoded"]


def test_scores_are_on_the_scale_of_all_of_them(tmp_path: Path) -> None:
    lines = [f"{text}\t{text.upper()}\t{1 + number % 3}" for number, text in enumerate(TEXTS)]
    (tmp_path / "held.tsv").write_text("One cat.\tA cat.\t5\nOne dog.\tA stone.\t0\n")
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n")
    source, held = (Source(paths=(tmp_path / name,), task=Task.SIMILARITY) for name in ("train.tsv", "held.tsv"))
    job = make_job(Task.SIMILARITY, preset="tiny", overrides=[*QUICK, "train.steps=1"])
    finished = train(job, sources=[source], validation=[held], folder=tmp_path / "run")
    assert _score_range(finished.materials) == (0.0, 5.0)
