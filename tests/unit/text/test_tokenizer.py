"""The door: ids and pieces, offsets, special tokens, saving and loading."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from jaxtyping import config
from tokenizers import models, pre_tokenizers

from clearhead.errors import TextError
from clearhead.text import SpecialIds, SpecialTokens, Tokenizer, load_tokenizer, train_tokenizer

TEXTS = ["the cat sat on the mat", "the dog sat on the log"]


@pytest.fixture(scope="module")
def wordpiece() -> Tokenizer:
    return train_tokenizer(TEXTS, kind="wordpiece", vocab_size=100)


@pytest.fixture(scope="module")
def bpe() -> Tokenizer:
    return train_tokenizer(TEXTS, kind="bpe", vocab_size=300)


@pytest.fixture
def untyped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls as a user's are, without the type checks that the tests add."""
    monkeypatch.setattr(config, "jaxtyping_disable", True)


def test_an_encoding_runs_in_step(wordpiece: Tokenizer) -> None:
    text = "the  cat."
    encoding = wordpiece.encode(text)
    assert encoding.pieces == ("[CLS]", "the", "cat", "[UNK]", "[SEP]")
    assert encoding.ids == tuple(map(wordpiece.id_of, encoding.pieces))
    assert [text[start:end] for start, end in encoding.offsets] == ["", "the", "cat", ".", ""]
    assert encoding.special == (True, False, False, True, True)
    assert len(encoding) == 5


def test_special_tokens_are_added_only_if_asked(wordpiece: Tokenizer) -> None:
    assert wordpiece.encode("the", add_special=False).pieces == ("the",)


def test_a_pair_has_two_segments(wordpiece: Tokenizer) -> None:
    pair = wordpiece.encode_pair("the cat", "sat")
    assert pair.pieces == ("[CLS]", "the", "cat", "[SEP]", "sat", "[SEP]")
    assert pair.segments == (0, 0, 0, 0, 1, 1)
    assert pair.offsets[4] == (0, 3)


def test_a_batch_is_a_loop(wordpiece: Tokenizer) -> None:
    assert wordpiece.encode_batch(iter(TEXTS)) == [wordpiece.encode(text) for text in TEXTS]
    assert wordpiece.encode_batch([]) == []


def test_offsets_count_characters_not_bytes(bpe: Tokenizer) -> None:
    text = "é the 😀"
    encoding = bpe.encode(text)
    assert encoding.offsets[0] == encoding.offsets[1] == (0, 1)
    assert encoding.offsets[-1] == (len(text) - 1, len(text))


def test_special_tokens_in_a_text_are_text_only_if_literal(bpe: Tokenizer) -> None:
    text = "the <mask> </s>"
    assert bpe.special.mask in bpe.encode(text).ids
    assert bpe.decode(bpe.encode(text).ids) == "the  "
    assert bpe.decode(bpe.encode(text, literal=True).ids) == text
    assert not any(bpe.encode_pair(text, text, literal=True).special)


def test_decoding_keeps_special_tokens_if_asked(wordpiece: Tokenizer) -> None:
    ids = wordpiece.encode("the cat").ids
    assert wordpiece.decode(ids) == "the cat"
    assert wordpiece.decode(np.array(ids), skip_special=False) == "[CLS] the cat [SEP]"


def test_pieces_and_ids_are_inverse(wordpiece: Tokenizer) -> None:
    assert [wordpiece.id_of(wordpiece.piece_of(index)) for index in range(wordpiece.vocab_size)] == list(
        range(wordpiece.vocab_size)
    )


@pytest.mark.parametrize("index", [-1, 100, 2**32, 2**70])
def test_an_id_outside_the_vocabulary(wordpiece: Tokenizer, index: int) -> None:
    with pytest.raises(TextError, match="an id from 0 to"):
        wordpiece.decode([0, index])
    with pytest.raises(TextError, match="an id from 0 to"):
        wordpiece.piece_of(index)


def test_an_unknown_piece_is_advised_on(wordpiece: Tokenizer) -> None:
    with pytest.raises(TextError, match=r"did you mean .*cat"):
        wordpiece.id_of("catt")


@pytest.mark.usefixtures("untyped")
def test_what_is_not_text_or_ids(wordpiece: Tokenizer) -> None:
    for call in (
        lambda: wordpiece.encode(None),  # pyright: ignore[reportArgumentType]
        lambda: wordpiece.encode_batch("the cat"),
        lambda: wordpiece.encode_pair("a", 3),  # pyright: ignore[reportArgumentType]
        lambda: wordpiece.encode("\ud800"),
        lambda: wordpiece.id_of("\ud800"),
        lambda: wordpiece.decode([1.5]),  # pyright: ignore[reportArgumentType]
        lambda: wordpiece.decode("12"),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(TextError):
            call()


def test_saving_and_loading(wordpiece: Tokenizer, tmp_path: Path) -> None:
    path = wordpiece.save(tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "tokenizer.json"
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["tokenizer.json", "tokenizer_config.json"]
    for loaded in (Tokenizer.load(path), Tokenizer.load(str(path.parent))):
        assert loaded.encode("the cat sat") == wordpiece.encode("the cat sat")
        assert loaded.special == wordpiece.special
        assert loaded.save(tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_tokenizer_can_be_pickled_for_workers(wordpiece: Tokenizer) -> None:
    assert pickle.loads(pickle.dumps(wordpiece)).encode("the cat") == wordpiece.encode("the cat")  # noqa: S301


def test_unusual_special_tokens_survive_saving(tmp_path: Path) -> None:
    special = SpecialTokens(pad="§", unknown="?!", start="§")
    tokenizer = train_tokenizer(TEXTS, kind="word", special=special)
    assert tokenizer.special == SpecialIds(pad=0, unknown=1, start=0)
    tokenizer.save(tmp_path)
    assert Tokenizer.load(tmp_path).special == tokenizer.special


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["<pad>", "<unk>", "<s>", "</s>", "<mask>"], SpecialIds(pad=0, unknown=1, start=2, end=3, mask=4)),
        (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], SpecialIds(pad=0, unknown=1, start=2, end=3, mask=4)),
        (["<|endoftext|>"], SpecialIds(start=0, end=0)),
        ([], SpecialIds()),
    ],
)
def test_roles_are_guessed_from_usual_spellings(tokens: list[str], expected: SpecialIds) -> None:
    inner = tokenizers.Tokenizer(models.BPE())
    inner.add_special_tokens(tokens)
    assert Tokenizer(inner=inner).special == expected


def test_an_ordinary_piece_is_not_taken_for_a_special_one() -> None:
    inner = tokenizers.Tokenizer(models.WordLevel({"<s>": 0}, unk_token="<s>"))  # noqa: S106
    assert Tokenizer(inner=inner).special == SpecialIds()


def test_published_settings_give_the_roles(wordpiece: Tokenizer, tmp_path: Path) -> None:
    wordpiece.save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"pad_token": None, "eos_token": {"content": "[PAD]"}}))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"cls_token": "[CLS]", "mask_token": "absent"}))
    assert Tokenizer.load(tmp_path).special == SpecialIds(start=wordpiece.id_of("[CLS]"), end=wordpiece.id_of("[PAD]"))


def test_a_role_without_its_token_is_refused() -> None:
    with pytest.raises(TextError, match="'<gone>'"):
        Tokenizer(inner=tokenizers.Tokenizer(models.BPE()), special=SpecialTokens(pad="<gone>"))


def test_a_published_file_may_not_cut_or_pad(tmp_path: Path) -> None:
    inner = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))  # noqa: S106
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.enable_truncation(2)
    inner.enable_padding(length=5)
    inner.save(str(tmp_path / "tokenizer.json"))
    assert Tokenizer.load(tmp_path).encode("b b b").ids == (1, 1, 1)


def test_other_programs_load_the_folder(wordpiece: Tokenizer, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    wordpiece.save(tmp_path)
    reference = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert tuple(reference("the cat sat")["input_ids"]) == wordpiece.encode("the cat sat").ids
    assert reference.pad_token_id == wordpiece.special.pad


def test_what_writes_is_saved_beside_what_reads(tmp_path: Path) -> None:
    source = train_tokenizer(["a cat sat"], kind="word")
    pair = Tokenizer(inner=source._inner, target=train_tokenizer(["un chat assis"], kind="word"))
    pair.save(tmp_path)
    for again in (Tokenizer.load(tmp_path), load_tokenizer(tmp_path)):
        assert again.target is not again
        assert again.encode("a cat", add_special=False).pieces == ("a", "cat")
        assert again.target.encode("un chat", add_special=False).pieces == ("un", "chat")
