"""The ids and texts of published tokenizers, against the reference and against SentencePiece itself.

Where the two disagree, SentencePiece is right: the published models were trained with it.
"""

import json
import shutil
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import transformers
from jaxtyping import config

from clearhead.text import Tokenizer, load_tokenizer, train_tokenizer

from .tokenizer_folders import (
    HARD,
    SPELLED,
    make_bert,
    make_gpt2,
    make_marian,
    make_spm,
    random_texts,
    read_corpus,
)

LLAMA = {
    "model_type": "bpe",
    "vocab_size": 1500,
    "byte_fallback": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "character_coverage": 0.99,
}
T5 = {"model_type": "unigram", "vocab_size": 1200, "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
ODD = {
    "bpe-folded-user": {
        "model_type": "bpe",
        "vocab_size": 1400,
        "normalization_rule_name": "nmt_nfkc_cf",
        "user_defined_symbols": ["\n", "<tag>", "  "],
    },
    "unigram-bytes-user": {
        "model_type": "unigram",
        "vocab_size": 1400,
        "byte_fallback": True,
        "user_defined_symbols": ["<tag>", "ab"],
    },
    "unigram-no-prefix": {
        "model_type": "unigram",
        "vocab_size": 1000,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "nfkc",
    },
}
# A text that begins with a space keeps it in SentencePiece, which puts another one before it; the reference does not.
KEPT_SPACE = (" ", "▁")
MOST_DECODED = 1500


@pytest.fixture(scope="module", autouse=True)
def untyped() -> Iterator[None]:
    """Ten thousand texts at the speed of a user's; the unit tests check the types."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "jaxtyping_disable", True)
        yield


@pytest.fixture(scope="module")
def corpus(shared: Path) -> list[str]:
    return read_corpus(shared)


@pytest.fixture(scope="module")
def plain(corpus: list[str]) -> list[str]:
    """Texts without special tokens in them."""
    return [*HARD, *corpus[:200], *corpus[-400:], *random_texts(10_000)]


def reference(kind: Any, folder: Path, **settings: object) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that changes no id
        return kind.from_pretrained(folder, model_max_length=10**6, **settings)


def processor(path: Path) -> Any:
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def ids(tokenizer: Tokenizer, texts: Iterable[str], **options: bool) -> list[list[int]]:
    return [list(encoding.ids) for encoding in tokenizer.encode_batch(texts, **options)]


def agree(ours: list[Any], theirs: list[Any], texts: list[str]) -> None:
    """Equal, or the first few texts that are not."""
    different = [row for row in zip(texts, ours, theirs, strict=True) if row[1] != row[2]]
    assert different[:3] == [], f"{len(different)} of {len(texts)} differ"


def agree_on_decoding(ours: Tokenizer, theirs: Any, texts: list[str]) -> None:
    texts = texts[:MOST_DECODED] + texts[-len(SPELLED) :]
    encoded = ids(ours, texts)
    agree([ours.decode(row) for row in encoded], theirs.batch_decode(encoded, skip_special_tokens=True), texts)


def agree_with_sentencepiece(ours: Tokenizer, theirs: Any, texts: list[str]) -> None:
    """Ids, and text from ids without the unknown one, which SentencePiece writes as a mark of its own."""
    encoded = theirs.encode(texts)
    agree(ids(ours, texts, add_special=False, literal=True), encoded, texts)
    known = [[index for index in row if index != theirs.unk_id()] for row in encoded[:MOST_DECODED]]
    agree([ours.decode(row) for row in known], theirs.decode(known), texts[:MOST_DECODED])


def test_gpt2(tmp_path: Path, corpus: list[str], plain: list[str]) -> None:
    folder = make_gpt2(tmp_path, corpus)
    ours, theirs = load_tokenizer(folder), reference(transformers.GPT2Tokenizer, folder)
    texts = [*plain, *SPELLED]
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)
    agree_on_decoding(ours, theirs, texts)
    for settings in ({"add_prefix_space": True}, {"add_bos_token": True, "tokenizer_class": "GPT2TokenizerFast"}):
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        ours, theirs = load_tokenizer(folder), reference(transformers.GPT2Tokenizer, folder)
        few = [*HARD, *SPELLED]
        agree(ids(ours, few), theirs(few)["input_ids"], few)


@pytest.mark.parametrize(
    ("lowercase", "settings"),
    [
        (True, {}),
        (False, {}),
        (True, {"strip_accents": False, "tokenizer_class": "BertTokenizer"}),
        (False, {"strip_accents": True, "tokenize_chinese_chars": False, "tokenizer_class": "DistilBertTokenizer"}),
    ],
)
def test_bert(
    tmp_path: Path, corpus: list[str], plain: list[str], lowercase: bool, settings: dict[str, object]
) -> None:
    folder = make_bert(tmp_path / "bert", corpus, lowercase=lowercase, **settings)
    ours, theirs = load_tokenizer(folder), reference(transformers.BertTokenizer, folder)
    texts = [*(plain[:2000] if settings else plain), *SPELLED]
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)
    agree_on_decoding(ours, theirs, texts)
    pair = ours.encode_pair("the cat", "a [MASK]")
    assert list(pair.ids) == theirs("the cat", "a [MASK]")["input_ids"]
    assert list(pair.segments) == theirs("the cat", "a [MASK]")["token_type_ids"]


def test_llama(tmp_path: Path, corpus: list[str], plain: list[str]) -> None:
    path = make_spm(tmp_path / "tokenizer.model", corpus, **LLAMA)
    ours = load_tokenizer(tmp_path)
    agree_with_sentencepiece(ours, processor(path), plain)
    # The reference adds the start only if told to; Llama's own code, and its documentation, always do.
    theirs = reference(transformers.LlamaTokenizer, tmp_path, add_bos_token=True)
    texts = [text for text in [*plain, *SPELLED] if not text.startswith(KEPT_SPACE)]
    assert len(texts) > 10_000
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)
    agree_on_decoding(ours, theirs, texts)


@pytest.mark.parametrize("settings", [{"add_bos_token": False, "add_eos_token": True}, {"legacy": True}])
def test_llama_as_its_settings_say(tmp_path: Path, corpus: list[str], settings: dict[str, bool]) -> None:
    make_spm(tmp_path / "tokenizer.model", corpus, **LLAMA)
    settings = {"add_bos_token": True, **settings}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "LlamaTokenizer", **settings}))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<tool>": 1500}))
    ours, theirs = load_tokenizer(tmp_path), reference(transformers.LlamaTokenizer, tmp_path)
    texts = [text for text in [*HARD, *SPELLED, "a<tool>b", "<tool> <tool>"] if not text.startswith(KEPT_SPACE)]
    if "legacy" in settings:  # then the text behind a token is a text of its own, with a space of its own
        texts = [text for text in texts if "> " not in text]
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)
    assert ours.id_of("<tool>") == theirs.convert_tokens_to_ids("<tool>")


def test_t5(tmp_path: Path, corpus: list[str], plain: list[str]) -> None:
    path = make_spm(tmp_path / "spiece.model", corpus, **T5)
    ours, own = load_tokenizer(tmp_path), processor(path)
    agree_with_sentencepiece(ours, own, plain)
    theirs = reference(transformers.T5Tokenizer, tmp_path)
    texts = [*plain, *SPELLED]
    # The reference normalises visible characters one by one, so long ones stay as they are; it cuts at spaces that
    # SentencePiece does not know as such; and it takes "＜/s＞" for the end. Prepared alike, a text must be read alike.
    alike = [
        text
        for text in texts
        if " ".join(theirs.backend_tokenizer.normalizer.normalize_str(text).split())
        == own.normalize(text).replace("▁", " ").strip(" ")
        and "＞" not in text
    ]
    assert len(alike) > 0.95 * len(texts)
    agree(ids(ours, alike), theirs(alike)["input_ids"], alike)
    assert ours.vocab_size == len(theirs) == 1300
    assert ours.special.pad == theirs.pad_token_id == 0
    # The reference leaves a space where an unknown piece stood first; SentencePiece does not.
    known = [text for text in alike[:MOST_DECODED] if ours.special.unknown not in ours.encode(text).ids]
    agree_on_decoding(ours, theirs, known)


@pytest.mark.parametrize("kind", ["bpe", "wordpiece"])
def test_a_complete_file_says_itself_what_is_around_a_text(tmp_path: Path, corpus: list[str], kind: str) -> None:
    trained = train_tokenizer(corpus[:300], kind=kind, vocab_size=400)
    trained.save(tmp_path)
    settings = {"add_bos_token": True, "add_eos_token": False, "bos_token": trained.piece_of(2)}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<tool>": trained.vocab_size}))
    ours, theirs = load_tokenizer(tmp_path), reference(transformers.PreTrainedTokenizerFast, tmp_path)
    texts = [*HARD, *SPELLED]
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)


@pytest.mark.parametrize("n_sentinels", [0, 7])
def test_t5_with_as_many_sentinels_as_it_says(tmp_path: Path, corpus: list[str], n_sentinels: int) -> None:
    make_spm(tmp_path / "spiece.model", corpus, **T5)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"extra_ids": n_sentinels}))
    ours, theirs = load_tokenizer(tmp_path), reference(transformers.T5Tokenizer, tmp_path)
    assert ours.vocab_size == len(theirs) == 1200 + n_sentinels
    texts = ["a <extra_id_0> b <extra_id_6><extra_id_7>"]
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)


def test_marian(tmp_path: Path, corpus: list[str], plain: list[str]) -> None:
    folder = make_marian(tmp_path, corpus)
    ours, theirs = load_tokenizer(folder), reference(transformers.MarianTokenizer, folder)
    texts = [*plain, *SPELLED]
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)
    agree(ids(ours.target, texts), theirs(text_target=texts)["input_ids"], texts)
    # Unknown pieces in the middle leave two spaces in one and one in the other; no model is read by that.
    known = [text for text in texts[:MOST_DECODED] if ours.special.unknown not in ours.target.encode(text).ids]
    encoded = ids(ours.target, known)
    agree([ours.target.decode(row) for row in encoded], theirs.batch_decode(encoded, skip_special_tokens=True), known)
    assert ours.special.pad == theirs.pad_token_id == ours.vocab_size - 1
    assert ours.target.target is ours.target
    # The reference takes a language that it does not know for one unknown piece, and loses what it says.
    assert "a" in ours.decode(ours.encode(">> a <<").ids)


def test_marian_with_one_of_its_two_files(tmp_path: Path, corpus: list[str]) -> None:
    folder = make_marian(tmp_path / "both", corpus)
    both = load_tokenizer(folder)
    for name, side in (("source.spm", both), ("target.spm", both.target)):
        alone = tmp_path / name
        alone.mkdir()
        for file in (name, "vocab.json"):
            shutil.copy(folder / file, alone)
        loaded = load_tokenizer(alone)
        assert loaded.target is loaded
        assert ids(loaded, HARD) == ids(side, HARD)


@pytest.mark.parametrize("name", ODD)
def test_unusual_sentencepiece_files(tmp_path: Path, corpus: list[str], name: str) -> None:
    path = make_spm(tmp_path / "tokenizer.model", corpus, **ODD[name])
    texts = [*HARD, "x<tag>y ab\n<tag> \n\n  z", *corpus[:300], *random_texts(1000)]
    agree_with_sentencepiece(load_tokenizer(tmp_path), processor(path), texts)


def test_the_tokenizer_of_llama_2(shared: Path, plain: list[str]) -> None:
    folder = shared / "models/stories15M"
    ours = load_tokenizer(folder)
    agree_with_sentencepiece(ours, processor(folder / "tokenizer.model"), plain)
    theirs = reference(transformers.LlamaTokenizer, folder, add_bos_token=True)
    # The reference joins pieces in the order of their ids; SentencePiece by their scores, which are low for "▁▁".
    texts = [text for text in [*plain, *SPELLED] if not text.startswith(KEPT_SPACE) and "  " not in text]
    assert len(texts) > 9000
    agree(ids(ours, texts), theirs(texts)["input_ids"], texts)
    assert ours.encode("Once upon a time").ids == (1, 9038, 2501, 263, 931)


def test_two_layouts_in_one_folder_give_the_same_ids(shared: Path, tmp_path: Path, plain: list[str]) -> None:
    folder = shared / "models/all-MiniLM-L6-v2"
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copyfile(folder / name, tmp_path / name)
    complete, older = load_tokenizer(folder), load_tokenizer(tmp_path)
    texts = [*plain, *SPELLED]
    agree(ids(older, texts), ids(complete, texts), texts)
    assert older.special == complete.special
    theirs = reference(transformers.BertTokenizer, folder)
    theirs.backend_tokenizer.no_truncation()
    theirs.backend_tokenizer.no_padding()
    agree(ids(complete, texts), theirs(texts)["input_ids"], texts)
