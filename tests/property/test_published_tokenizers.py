"""What holds for every text and every published layout."""

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from clearhead.text import Tokenizer, load_tokenizer, train_tokenizer

CORPUS = ["The cat sat on the mat, didn't it?", "नमस्ते दुनिया, यह एक वाक्य है।", "naïve café — über 漢字 😀"] * 10
LAYOUTS = ["llama", "t5", "marian", "gpt2", "bert"]
SPECIAL = ["</s>", "<s>", "<unk>", "<pad>", "[SEP]", "<|endoftext|>", "<extra_id_0>", ">>fr<<", " ", "▁", "a"]
ANY = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(st.sampled_from(SPECIAL)).map("".join)


def spm(**options: object) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, minloglevel=2, num_threads=1, **options
    )
    return model.getvalue()


def write(folder: Path, layout: str) -> None:
    if layout == "llama":
        options = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
        (folder / "tokenizer.model").write_bytes(spm(model_type="bpe", vocab_size=340, byte_fallback=True, **options))
    elif layout == "t5":
        (folder / "spiece.model").write_bytes(spm(vocab_size=51, pad_id=3))
    elif layout == "marian":
        for name in ("source.spm", "target.spm"):
            (folder / name).write_bytes(spm(vocab_size=50))
        pieces = ["</s>", "<unk>", *map(chr, range(0x20, 0x7F)), "▁", "▁the", ">>fr<<", "<pad>"]
        (folder / "vocab.json").write_text(json.dumps({piece: index for index, piece in enumerate(pieces)}))
    else:
        trained = train_tokenizer(CORPUS, kind="bpe" if layout == "gpt2" else "wordpiece", vocab_size=400)
        if layout == "bert":
            pieces = [trained.piece_of(index) for index in range(trained.vocab_size)]
            (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
            return
        model = json.loads(trained.save(folder / "made").read_text(encoding="utf-8"))["model"]
        (folder / "vocab.json").write_text(json.dumps({**model["vocab"], "<|endoftext|>": len(model["vocab"])}))
        (folder / "merges.txt").write_text("\n".join(map(" ".join, model["merges"])), encoding="utf-8")


@cache
def loaded(layout: str) -> Tokenizer:
    with TemporaryDirectory() as name:
        write(Path(name), layout)
        return load_tokenizer(name)


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    """Training belongs to no example's time."""
    for layout in LAYOUTS:
        loaded(layout)


@given(st.sampled_from(["llama", "gpt2"]), ANY)
def test_bytes_give_back_any_text(layout: str, text: str) -> None:
    tokenizer = loaded(layout)
    decoded = tokenizer.decode(tokenizer.encode(text, literal=True).ids)
    assert decoded == (text.replace("▁", " ") if layout == "llama" else text)


@given(st.sampled_from(LAYOUTS), ANY, st.booleans(), st.booleans())
def test_an_encoding_runs_in_step(layout: str, text: str, add_special: bool, literal: bool) -> None:
    tokenizer = loaded(layout)
    encoding = tokenizer.encode(text, add_special=add_special, literal=literal)
    columns = (encoding.ids, encoding.pieces, encoding.offsets, encoding.special, encoding.segments)
    assert len({len(column) for column in columns}) == 1
    assert all(tokenizer.piece_of(index) == piece for index, piece in zip(encoding.ids, encoding.pieces, strict=True))
    starts = [start for start, _ in tokenizer.encode(text, add_special=False, literal=literal).offsets]
    assert starts == sorted(starts)
    assert all(0 <= start <= end <= len(text) for start, end in encoding.offsets)


@given(st.sampled_from(["llama", "t5", "marian"]), ANY)
def test_a_piece_comes_from_what_it_spells(layout: str, text: str) -> None:
    tokenizer = loaded(layout)
    encoding = tokenizer.encode(text, add_special=False, literal=True)
    covered = {place for start, end in encoding.offsets for place in range(start, end)}
    if layout == "llama":
        assert covered == set(range(len(text)))
    for piece, (start, end) in zip(encoding.pieces, encoding.offsets, strict=True):
        if piece.strip("▁").isascii() and piece.strip("▁").isalpha() and text[start:end].isascii():
            assert text[start:end].strip() == piece.strip("▁")


@given(st.sampled_from(LAYOUTS), st.lists(ANY, max_size=4))
def test_a_batch_is_a_loop(layout: str, texts: list[str]) -> None:
    tokenizer = loaded(layout)
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]


@given(st.sampled_from(["llama", "t5", "marian"]), ANY)
def test_literal_text_holds_no_special_token_but_the_unknown_one(layout: str, text: str) -> None:
    tokenizer = loaded(layout)
    encoding = tokenizer.encode(text, add_special=False, literal=True)
    special = {index for index, flag in zip(encoding.ids, encoding.special, strict=True) if flag}
    assert special <= {tokenizer.special.unknown}
