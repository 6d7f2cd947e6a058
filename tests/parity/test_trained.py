"""A folder that was trained here opens in the reference, with the same outputs, whatever the task."""

from pathlib import Path

import pytest
import torch
import transformers

import clearhead
from clearhead.data import Source, Task
from clearhead.training.job import make_job
from clearhead.training.train import Finished, train

WORDS = ["cat", "dog", "bird", "fish", "house", "tree", "river", "stone", "cloud", "road"]
TEXTS = [f"The {a} is near the {b}." for a in WORDS for b in WORDS if a != b]
QUICK = ["train.steps=4", "evaluation.sentences=4", "tokenizer.vocab_size=300", "train.batch.max_tokens=400"]


def run(
    folder: Path, task: Task, lines: list[str], *, kind: str = "tsv", overrides: list[str] | None = None
) -> Finished:
    path = folder / f"data.{kind}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    job = make_job(task, preset="tiny", overrides=[*QUICK, *(overrides or [])])
    finished = train(job, sources=[Source(paths=(path,), task=task)], folder=folder / "run")
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
