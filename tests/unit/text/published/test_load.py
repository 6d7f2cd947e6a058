"""Every layout becomes one kind of object, with what the files beside it say."""

import json
import pickle
from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.text import SpecialIds, Tokenizer, load_tokenizer, train_tokenizer
from clearhead.text.published.spm import BYTE_PIECES

from .spm_writer import BYTE, USER, number, piece, spm

LETTERS = [piece("▁", -9.0), piece("▁a", -1.0), *(piece(letter, -5.0) for letter in "abc</s>"[:6]), piece("ab", -2.0)]
BYTES = [piece(name, kind=BYTE) for name in BYTE_PIECES]
KEPT = number(4, 0)


def write(folder: Path, files: dict[str, object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    content = spm([*BYTES, *LETTERS], trainer=number(35, 1), normaliser=KEPT)
    return write(tmp_path / "llama", {"tokenizer.model": content})


@pytest.fixture
def t5(tmp_path: Path) -> Path:
    return write(tmp_path / "t5", {"spiece.model": spm(LETTERS, algorithm=1)})


@pytest.fixture
def marian(tmp_path: Path) -> Path:
    vocabulary = {"</s>": 0, "<unk>": 1, "▁a": 2, "ab": 3, "▁": 4, "c": 5, ">>fr<<": 6, "<pad>": 7}
    spms = {"source.spm": spm(LETTERS, algorithm=1), "target.spm": spm([piece("▁", -1.0), piece("c", -1.0)])}
    return write(tmp_path / "marian", {**spms, "vocab.json": vocabulary})


@pytest.fixture
def gpt2(tmp_path: Path) -> Path:
    files = {"vocab.json": {"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3, "Ġ": 4}, "merges.txt": "#version: 0.2\na b\n"}
    return write(tmp_path / "gpt2", files)


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return write(tmp_path / "bert", {"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\nÄ\n"})


def test_llama_writes_unknown_characters_as_bytes(llama: Path) -> None:
    tokenizer = load_tokenizer(llama)
    encoding = tokenizer.encode("ab é")
    assert encoding.pieces == ("<s>", "▁a", "b", "▁", "<0xC3>", "<0xA9>")
    assert encoding.offsets == ((0, 0), (0, 1), (1, 2), (2, 3), (3, 4), (3, 4))
    assert encoding.special == (True, *[False] * 5)
    assert tokenizer.decode(encoding.ids) == "ab é"
    assert tokenizer.special == SpecialIds(unknown=0, start=1, end=2)
    assert tokenizer.target is tokenizer


def test_a_special_token_in_a_text_is_text_only_if_literal(llama: Path) -> None:
    tokenizer = load_tokenizer(llama)
    assert tokenizer.encode("a</s>b", add_special=False).pieces == ("▁a", "</s>", "b")
    spelled = tokenizer.encode("a</s>b", add_special=False, literal=True)
    assert spelled.pieces == ("▁a", "<", "/", "s", "<0x3E>", "b")
    assert not any(spelled.special)
    assert tokenizer.decode(spelled.ids) == "a</s>b"


def test_llama_obeys_its_settings(llama: Path) -> None:
    settings = {"add_bos_token": False, "add_eos_token": True, "add_prefix_space": False, "bos_token": None}
    write(llama, {"tokenizer_config.json": settings, "added_tokens.json": {"<tool>": 268}})
    tokenizer = load_tokenizer(llama)
    assert tokenizer.encode("a<tool>b").pieces == ("a", "<tool>", "b", "</s>")
    assert tokenizer.special.start is None
    assert tokenizer.vocab_size == 269


def test_an_added_token_takes_the_spaces_that_it_says(llama: Path) -> None:
    described = {"268": {"content": "<t>", "lstrip": True, "rstrip": True, "special": True}, "269": {"content": "<w>"}}
    write(llama, {"tokenizer_config.json": {"add_bos_token": False, "added_tokens_decoder": described}})
    encoding = load_tokenizer(llama).encode("a <t>  b")
    assert encoding.pieces == ("▁a", "<t>", "b")
    assert encoding.offsets == ((0, 1), (1, 7), (7, 8))


def test_t5_ends_a_text_and_counts_sentinels_downwards(t5: Path) -> None:
    tokenizer = load_tokenizer(t5)
    encoding = tokenizer.encode("  a  ?? c<extra_id_0>")
    assert encoding.pieces == ("▁a", "▁", "<unk>", "▁", "c", "<extra_id_0>", "</s>")
    assert encoding.offsets[:4] == ((2, 3), (3, 4), (5, 7), (7, 8))
    assert tokenizer.id_of("<extra_id_0>") == tokenizer.vocab_size - 1
    assert tokenizer.id_of("<extra_id_99>") == tokenizer.vocab_size - 100
    assert tokenizer.decode(encoding.ids) == "a  c"


def test_a_pair_of_texts(t5: Path) -> None:
    pair = load_tokenizer(t5).encode_pair("a", "c")
    assert pair.pieces == ("▁a", "</s>", "▁", "c", "</s>")
    assert pair.segments == (0, 0, 1, 1, 1)


def test_marian_has_two_sides(marian: Path) -> None:
    source = load_tokenizer(marian)
    assert source.encode(">>fr<< a c").ids == (6, 2, 4, 5, 0)
    assert source.encode(">>de<<").ids[-1:] == (0,)
    assert source.special.unknown in source.encode(">>de<<").ids
    assert source.target is not source
    assert source.target.encode("ac").ids == (4, 1, 5, 0)
    assert source.target.decode([2, 4, 5, 0]) == "a c"
    assert source.vocab_size == source.target.vocab_size == 8


def test_marian_with_a_vocabulary_for_each_side(marian: Path) -> None:
    other = {"</s>": 0, "<unk>": 1, "c": 2, "▁": 3, "<pad>": 4}
    write(marian, {"tokenizer_config.json": {"separate_vocabs": True}, "target_vocab.json": other})
    source = load_tokenizer(marian)
    assert source.encode("c").ids == (4, 5, 0)
    assert source.target.encode("c").ids == (3, 2, 0)


def test_gpt2_needs_no_more_than_two_files(gpt2: Path) -> None:
    tokenizer = load_tokenizer(gpt2)
    assert tokenizer.encode("ab b<|endoftext|>").ids == (2, 4, 1, 3)
    assert tokenizer.special == SpecialIds(unknown=3, start=3, end=3)
    write(gpt2, {"tokenizer_config.json": {"add_prefix_space": True, "add_bos_token": True}})
    assert load_tokenizer(gpt2).encode("ab").ids == (3, 4, 2)


def test_bert_forgets_case_unless_told_otherwise(bert: Path) -> None:
    tokenizer = load_tokenizer(bert)
    assert tokenizer.encode("AB").pieces == ("[CLS]", "a", "##b", "[SEP]")
    assert tokenizer.encode_pair("a", "a").segments == (0, 0, 0, 1, 1)
    write(bert, {"tokenizer_config.json": {"do_lower_case": False, "tokenizer_class": "DistilBertTokenizer"}})
    assert load_tokenizer(bert).encode("aÄ Ä").pieces == ("[CLS]", "[UNK]", "Ä", "[SEP]")


def test_a_complete_file_wins(bert: Path) -> None:
    trained = train_tokenizer(["a cat"], kind="word")
    trained.save(bert)
    assert load_tokenizer(bert).encode("cat").ids == trained.encode("cat").ids
    assert load_tokenizer(bert / "tokenizer.json").special == trained.special


def test_a_complete_file_with_more_beside_it(tmp_path: Path) -> None:
    trained = train_tokenizer(["a cat"], kind="bpe", vocab_size=270)
    size = trained.vocab_size
    trained.save(tmp_path)
    write(tmp_path, {"tokenizer_config.json": {"eos_token": "<pad>"}, "added_tokens.json": {"<tool>": size}})
    loaded = load_tokenizer(tmp_path)
    assert loaded.encode("a<tool>").pieces == ("a", "<tool>")
    assert loaded.special == SpecialIds(end=loaded.id_of("<pad>"))
    assert loaded.id_of("<tool>") == size
    write(tmp_path, {"added_tokens.json": {"<tool>": size + 3}})
    with pytest.raises(TextError, match="another id"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("name", ["llama", "t5", "marian", "gpt2", "bert"])
def test_saving_and_pickling_change_nothing(request: pytest.FixtureRequest, tmp_path: Path, name: str) -> None:
    tokenizer = load_tokenizer(request.getfixturevalue(name))
    saved = tokenizer.save(tmp_path / "saved")
    assert saved.is_file()
    for copy in (load_tokenizer(saved.parent), pickle.loads(pickle.dumps(tokenizer))):  # noqa: S301
        assert isinstance(copy, Tokenizer)
        assert copy.encode("ab </s> c") == tokenizer.encode("ab </s> c")
        assert copy.target.encode("ab c") == tokenizer.target.encode("ab c")
        assert copy.special == tokenizer.special


@pytest.mark.parametrize("name", ["llama", "t5", "marian"])
def test_one_text_where_many_are_needed(request: pytest.FixtureRequest, name: str) -> None:
    tokenizer = load_tokenizer(request.getfixturevalue(name))
    with pytest.raises(TextError, match="where many are needed"):
        tokenizer.encode_batch("a text")
    with pytest.raises(TextError, match="surrogate"):
        tokenizer.encode("\ud800")


def test_pieces_of_the_users_own(tmp_path: Path) -> None:
    write(tmp_path, {"tokenizer.model": spm([*LETTERS, piece("<t>", kind=USER)])})
    assert load_tokenizer(tmp_path).encode("a<t> c").pieces == ("<s>", "▁a", "<t>", "▁", "c")


def test_of_two_merges_to_one_piece_the_left_one_comes_first(tmp_path: Path) -> None:
    pieces = [*(piece(letter, -9.0) for letter in "▁abc"), piece("ab", -1.0), piece("ba", -2.0), piece("aba", -3.0)]
    write(tmp_path, {"tokenizer.model": spm(pieces)})
    assert load_tokenizer(tmp_path).encode("cabaaba", add_special=False).pieces == ("▁", "c", "aba", "aba")
