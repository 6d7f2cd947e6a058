"""The façade: what belongs to a model stays with it, through saving and loading."""

from pathlib import Path

import pytest
import torch

import clearhead
from clearhead.errors import TextError, WeightsError
from clearhead.testing import ByteTokenizer, TinyModel


def saved(folder: Path, architecture: str = "llama", *, vocab_size: int | None = None) -> Path:
    tokenizer = ByteTokenizer()
    config = clearhead.preset("tiny", architecture=architecture, vocab_size=vocab_size or tokenizer.vocab_size)
    return clearhead.Model.of(clearhead.build(config, seed=0), tokenizer=tokenizer).save_pretrained(folder)


@pytest.mark.parametrize("architecture", ["gpt2", "llama", "bert", "distilbert", "t5", "flan-t5", "marian"])
def test_a_saved_model_comes_back_bit_for_bit(tmp_path: Path, architecture: str) -> None:
    tiny = TinyModel(architecture)
    first = clearhead.Model.of(tiny.model, tokenizer=tiny.tokenizer)
    again = clearhead.load(first.save_pretrained(tmp_path / "model"))
    assert again.config.family is again.family is tiny.config.family
    for (name, mine), (other, theirs) in zip(
        first.network.named_parameters(), again.network.named_parameters(), strict=True
    ):
        assert name == other
        assert torch.equal(mine, theirs)
    text = "Zwölf Boxkämpfer, 12 नमस्ते"
    assert again.tokenizer.encode(text).ids == tiny.tokenizer.encode(text).ids


def test_a_model_says_what_it_is(tmp_path: Path) -> None:
    assert "llama model" in repr(clearhead.load(saved(tmp_path / "x")))


def test_a_folder_without_a_tokenizer_loads_and_says_so_when_asked(tmp_path: Path) -> None:
    network = clearhead.build(clearhead.preset("tiny", architecture="gpt2", vocab_size=9))
    model = clearhead.load(clearhead.Model.of(network).save_pretrained(tmp_path / "bare"))
    with pytest.raises(TextError, match="no tokenizer"):
        _ = model.tokenizer


def test_a_tokenizer_with_more_pieces_than_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="larger than its model"):
        clearhead.load(saved(tmp_path / "x", vocab_size=100))


@pytest.mark.parametrize("architecture", ["original", "gpt"])
def test_what_no_layout_can_say_is_not_saved(architecture: str) -> None:
    network = clearhead.build(clearhead.preset("tiny", architecture=architecture, vocab_size=9))
    with pytest.raises(WeightsError, match="no published layout"):
        clearhead.Model.of(network)


def test_a_name_that_is_nothing_is_refused() -> None:
    with pytest.raises(WeightsError):
        clearhead.load("no/such/place/at/all")
