"""Published tokenizers that are broken, or made to break their reader: one TextError each, which names the file."""

import io
import json
import random
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import sentencepiece
from jaxtyping import config

from clearhead.errors import TextError
from clearhead.text import load_tokenizer, train_tokenizer

from ..unit.text.published.spm_writer import message, number, piece, run, spm, varint

TEXTS = ["the cat sat on the mat", "", "  नमस्ते é 😀 각 </s>", "\x00 ﬁ Ｈｉ", "x" * 2000]
CORPUS = ["the cat sat on the mat", "the dog sat on the log", "नमस्ते दुनिया", "über café"] * 30
A = piece("a", -1.0)
N_MUTATIONS = 200
N_PIECE_BYTES = 500
MOST_KILOBYTES = 200 * 2**10


@pytest.fixture(autouse=True)
def untyped() -> Iterator[None]:
    """Files as a user's program meets them, without the type checks that the tests add."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "jaxtyping_disable", True)
        yield


def refused(folder: Path, files: dict[str, object], *, naming: str) -> str:
    """The message with which a folder of these files is refused; it names one of them."""
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(TextError) as caught:
        load_tokenizer(folder).encode("a")
    assert str(folder / naming) in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


def trained(**options: object) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, minloglevel=2, num_threads=1, **options
    )
    return model.getvalue()


@pytest.fixture(scope="module")
def bpe() -> bytes:
    return trained(model_type="bpe", vocab_size=320, byte_fallback=True)


@pytest.fixture(scope="module")
def unigram() -> bytes:
    return trained(model_type="unigram", vocab_size=40)


def test_a_folder_without_anything(tmp_path: Path) -> None:
    assert "tokenizer.json" in refused(tmp_path, {}, naming="")
    refused(tmp_path, {"vocab.json": {"a": 0}}, naming="")
    with pytest.raises(TextError, match="does not exist"):
        load_tokenizer(tmp_path / "gone")
    (tmp_path / "a.bin").touch()
    with pytest.raises(TextError, match="a folder is needed"):
        load_tokenizer(tmp_path / "a.bin")


@pytest.mark.parametrize("name", ["tokenizer.model", "spiece.model", "vocab.txt", "tokenizer.json"])
def test_a_folder_in_place_of_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert "folder" in refused(tmp_path, {}, naming=name)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        b"\xff" * 100,
        b"{}",
        b"\x80\x04\x95pickle",
        b"\x0a" + varint(2**62),
        b"\x0a\x7fshort",
        spm([A])[:-1],
        spm([A]) + run(1, b"\x0a\x05ab"),
        spm([A]) + number(1, 5),
        spm([A]) + number(2, 5),
        spm([A]) + message(3, number(2, 5)),
        spm([A]) + message(3, run(2, b"\xff\xff\xff\xff")),
        spm([A, A]),
        spm([piece("a" * 100_000)]),
        spm([A, piece(b"\xc3\x28")]),
        spm([piece(f"{place}") for place in range(40)], trainer=number(35, 1)),
    ],
)
def test_a_sentencepiece_file_that_lies(tmp_path: Path, content: bytes) -> None:
    refused(tmp_path, {"tokenizer.model": content}, naming="tokenizer.model")


def test_a_sentencepiece_file_cut_anywhere(tmp_path: Path, bpe: bytes) -> None:
    # The last few bytes are a field that says nothing.
    for end in range(0, len(bpe) - 100, len(bpe) // 50):
        refused(tmp_path, {"tokenizer.model": bpe[:end]}, naming="tokenizer.model")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_changed_sentencepiece_file_is_refused_or_works(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    content: bytes = request.getfixturevalue(kind)
    chance = random.Random(0)  # noqa: S311
    outcomes = {"works": 0, "refused": 0}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(N_MUTATIONS):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            # Half of them among the pieces, which are few beside the rules for characters.
            changed[chance.randrange(chance.choice([N_PIECE_BYTES, len(changed)]))] = chance.randrange(256)
        (tmp_path / "tokenizer.model").write_bytes(changed)
        try:
            loaded = load_tokenizer(tmp_path)
            for encoding in loaded.encode_batch(TEXTS):
                loaded.decode(encoding.ids)
            outcomes["works"] += 1
        except TextError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_KILOBYTES


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([1], "not a JSON object"),
        ("{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ({}, "without pieces"),
        ({"a": "0"}, "numbered"),
        ({"a": None}, "numbered"),
        ({"a": True}, "numbered"),
        ({"a": 0.5}, "numbered"),
        ({"a": -1}, "numbered"),
        ({"a": 2**70}, "numbered"),
        ({"a": 0, "b": 2}, "numbered"),
        ({"a": 0, "b": 0}, "two pieces"),
        ({"a": [0]}, "numbered"),
    ],
)
def test_a_vocabulary_that_cannot_be_right(tmp_path: Path, content: object, problem: str) -> None:
    assert problem in refused(tmp_path, {"vocab.json": content, "merges.txt": ""}, naming="vocab.json")
    assert problem in refused(tmp_path, {"vocab.json": content, "source.spm": spm([A])}, naming="vocab.json")


@pytest.mark.parametrize(
    ("merges", "line"),
    [("a x", 1), ("#version: 0.2\na b\nb a", 3), ("ab", 1), ("a b c", 1), (b"a \xff", 1), ("a b\n#version", 2)],
)
def test_merges_of_unknown_pieces(tmp_path: Path, merges: object, line: int) -> None:
    files = {"vocab.json": {"a": 0, "b": 1, "ab": 2}, "merges.txt": merges}
    assert f"line {line}" in refused(tmp_path, files, naming="merges.txt")


@pytest.mark.parametrize("content", [b"", b"a\nb\n", b"[UNK]\na\na\n", b"[UNK]\n\xff\n", b"[UNK]\n\n\n"])
def test_a_list_of_pieces_that_cannot_be_right(tmp_path: Path, content: bytes) -> None:
    refused(tmp_path, {"vocab.txt": content}, naming="vocab.txt")


@pytest.mark.parametrize("vocabulary", [{"a": 0}, {"<unk>": 0}, {"</s>": 0, "a": 1}])
def test_a_marian_vocabulary_without_its_usual_tokens(tmp_path: Path, vocabulary: dict[str, int]) -> None:
    refused(tmp_path, {"vocab.json": vocabulary, "target.spm": spm([A])}, naming="vocab.json")


def test_a_tokenizer_and_a_model_of_different_sizes(tmp_path: Path) -> None:
    small = {"config.json": {"vocab_size": 2}}
    older = {"vocab.txt": "[UNK]\na\nb\n"}
    assert "larger than its model" in refused(tmp_path, {**small, **older}, naming="config.json")
    refused(tmp_path, {**small, "tokenizer.model": spm([A])}, naming="config.json")
    train_tokenizer(["a cat"], kind="bpe", vocab_size=270).save(tmp_path)
    refused(tmp_path, small, naming="config.json")


@pytest.mark.parametrize(
    "settings",
    [
        {"do_lower_case": "yes"},
        {"strip_accents": 1},
        {"tokenizer_class": 5},
        {"tokenizer_class": "RobertaTokenizer"},
        {"added_tokens_decoder": [1]},
        {"added_tokens_decoder": {"x": {"content": "y"}}},
        {"added_tokens_decoder": {"5": 7}},
    ],
)
def test_settings_of_the_wrong_kind(tmp_path: Path, settings: object) -> None:
    files = {"vocab.txt": "[UNK]\na\nb\n", "tokenizer_config.json": settings}
    refused(tmp_path, files, naming="tokenizer_config.json")


@pytest.mark.parametrize(
    "name", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"]
)
@pytest.mark.parametrize("content", ["{", "[1]", b"\xff", "[" * 100_000])
def test_settings_that_are_none(tmp_path: Path, name: str, content: object) -> None:
    refused(tmp_path, {"vocab.txt": "[UNK]\na\n", name: content}, naming=name)


@pytest.mark.parametrize("added", [{"x": "5"}, {"x": True}, {"": 2}, {"x": -1}, {"x": 7}, {"x": None}, {"a": 0}])
def test_added_tokens_that_do_not_belong(tmp_path: Path, added: object) -> None:
    refused(tmp_path, {"vocab.txt": "[UNK]\na\n", "added_tokens.json": added}, naming="")


@pytest.mark.parametrize("n_sentinels", [-1, 10**9, "7", True, 1.5])
def test_a_number_of_sentinels_that_cannot_be_right(tmp_path: Path, n_sentinels: object) -> None:
    files = {"spiece.model": spm([A], algorithm=1), "tokenizer_config.json": {"extra_ids": n_sentinels}}
    refused(tmp_path, files, naming="tokenizer_config.json")


def test_a_text_in_wide_letters_is_not_an_end(tmp_path: Path, unigram: bytes) -> None:
    (tmp_path / "spiece.model").write_bytes(unigram)
    tokenizer = load_tokenizer(tmp_path)
    for literal in (True, False):
        assert tokenizer.special.end not in tokenizer.encode("＜/s＞", add_special=False, literal=literal).ids
