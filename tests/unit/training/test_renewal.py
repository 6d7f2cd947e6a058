"""A model that is given another vocabulary keeps what it knew of the pieces that it had."""

from pathlib import Path

import pytest
import torch
import transformers

import clearhead
from clearhead.data import Source, Task
from clearhead.errors import TrainingError
from clearhead.tasks.loaded import Loaded
from clearhead.text import train_tokenizer
from clearhead.training import make_job
from clearhead.training.renewal import renewed
from clearhead.training.train import Finished, train

WORDS = ["cat", "dog", "bird", "fish", "house", "tree", "river", "stone"]
FIRST = [f"The {a} is near the {b}.\tLe {a} est sur le {b}." for a in WORDS for b in WORDS if a != b]
SECOND = [f"A {a} saw नदी {b}.\tUn {a} voit पहाड़ {b}." for a in WORDS for b in WORDS if a != b]
QUICK = ["train.steps=3", "evaluation.sentences=2", "train.batch.max_tokens=400"]


def trained(folder: Path, name: str, lines: list[str], *more: str) -> Finished:
    path = folder / f"{name}.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    job = make_job(Task.TRANSLATE, preset="tiny", overrides=[*QUICK, *more])
    return train(job, sources=[Source(paths=(path,), task=Task.TRANSLATE)], folder=folder / name)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("renewal")
    trained(folder, "first", FIRST, "tokenizer.vocab_size=320")
    return folder


def test_pieces_that_both_have_keep_their_vectors(first: Path) -> None:
    old = Loaded.open(first / "first")
    tokenizer = old.tokenizer
    other = train_tokenizer([line.replace("\t", " ") for line in SECOND], kind="bpe", vocab_size=330)
    new, said = renewed(old, other, Task.LANGUAGE_MODEL)
    before = old.checkpoint.model.get_parameter("encoder.embedding.token.weight")
    after = new.checkpoint.model.get_parameter("encoder.embedding.token.weight")
    assert after.shape[0] == other.vocab_size
    known = {tokenizer.piece_of(index): index for index in range(tokenizer.vocab_size)}
    shared = [index for index in range(other.vocab_size) if other.piece_of(index) in known]
    assert 256 <= len(shared) < other.vocab_size
    assert f"{len(shared):,} of its {other.vocab_size:,}" in said
    for index in shared:
        assert torch.equal(after[index], before[known[other.piece_of(index)]])
    for index in set(range(other.vocab_size)) - set(shared):
        assert torch.isfinite(after[index]).all()


def test_a_piece_that_is_new_begins_as_the_mean_of_those_that_spell_it(first: Path) -> None:
    old = Loaded.open(first / "first")
    other = train_tokenizer(["Zqx Zqx Zqx"], kind="bpe", vocab_size=262)
    index = next(i for i in range(other.vocab_size) if other.piece_of(i) in ("Zq", "qx"))
    new, _ = renewed(old, other, Task.LANGUAGE_MODEL)
    letters = [old.tokenizer.id_of(letter) for letter in other.piece_of(index)]
    table = old.checkpoint.model.get_parameter("encoder.embedding.token.weight")
    found = new.checkpoint.model.get_parameter("encoder.embedding.token.weight")[index]
    assert torch.allclose(found, table[letters].mean(0), atol=1e-6)


def test_a_run_goes_on_with_a_new_vocabulary_and_opens_elsewhere(first: Path) -> None:
    start = f"model.start={first / 'first'}"
    finished = trained(first, "second", SECOND, start, "tokenizer.renew=true", "tokenizer.vocab_size=350")
    ours = clearhead.load(first / "second")
    assert (
        finished.materials.tokenizer.vocab_size == ours.tokenizer.vocab_size == ours.config.encoder.embedding.vocab_size
    )
    assert ours.tokenizer.vocab_size != Loaded.open(first / "first").tokenizer.vocab_size
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(first / "second").eval()
    pad = ours.config.tokens.pad
    assert theirs.config.decoder_start_token_id == theirs.generation_config.decoder_start_token_id == pad
    ids = torch.tensor([ours.tokenizer.encode("A cat saw नदी dog.").ids])
    target = torch.tensor([[pad, 5, 9]])
    with torch.no_grad():
        expected = theirs(input_ids=ids, decoder_input_ids=target).logits
        assert torch.allclose(ours.network(ids, target).logits_BTV, expected, atol=1e-4)


def test_without_renewal_the_start_models_vocabulary_stays(first: Path) -> None:
    finished = trained(first, "third", SECOND, f"model.start={first / 'first'}")
    assert finished.materials.tokenizer.vocab_size == Loaded.open(first / "first").tokenizer.vocab_size


def test_two_vocabularies_are_refused(first: Path) -> None:
    with pytest.raises(TrainingError, match="only one vocabulary"):
        trained(
            first,
            "fourth",
            SECOND,
            f"model.start={first / 'first'}",
            "tokenizer.renew=true",
            "tokenizer.joint=false",
            "tokenizer.vocab_size=300",
        )
