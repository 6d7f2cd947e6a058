"""Each kind of tokenizer learns what it should, the same every time, or says why not."""

import gzip
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.text import SpecialIds, SpecialTokens, Tokenizer, TokenizerKind, train_tokenizer
from clearhead.text.train import MAX_VOCAB_SIZE

WORLD = "AI changes the world."
KINDS = list(TokenizerKind)


@pytest.fixture(scope="module")
def lines(shared: Path) -> list[str]:
    with gzip.open(shared / "data/text/shakespeare.txt.gz", "rt", encoding="utf-8") as file:
        return file.read().splitlines()[:4000]


def content(tokenizer: Tokenizer, folder: Path) -> bytes:
    return tokenizer.save(folder).read_bytes()


def test_words() -> None:
    tokenizer = train_tokenizer([WORLD], kind="word")
    assert tokenizer.encode(WORLD).pieces == ("AI", "changes", "the", "world", ".")
    assert tokenizer.decode(tokenizer.encode(WORLD).ids) == WORLD


def test_words_are_cut_to_the_most_frequent() -> None:
    tokenizer = train_tokenizer(["a b a c a b"], kind="word", vocab_size=7)
    assert [tokenizer.piece_of(index) for index in range(5, 7)] == ["a", "b"]
    assert tokenizer.encode("c").ids == (tokenizer.special.unknown,)


def test_words_decode_with_the_usual_spacing() -> None:
    text = "«Well» (yes), 5%: “no” ... ¿why? [so] क्या।"
    tokenizer = train_tokenizer([text], kind="word")
    assert tokenizer.decode(tokenizer.encode(text).ids) == "«Well» (yes), 5%: “no”... ¿why? [so] क्या।"


def test_characters() -> None:
    text = "Tab\t, line\r\n, 😀, नमस्ते, e\u0301!"
    tokenizer = train_tokenizer([text], kind="character")
    assert tokenizer.encode(text).pieces == tuple(text)
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_bpe_learns_merges_and_knows_every_byte() -> None:
    tokenizer = train_tokenizer(["low lower lowest"] * 3, kind="bpe", vocab_size=270)
    assert "low" in tokenizer.encode("low lower").pieces
    assert tokenizer.decode(tokenizer.encode("\x00 漢字  \n\n 😀\u200d").ids) == "\x00 漢字  \n\n 😀\u200d"
    assert tokenizer.special == SpecialIds(pad=0, start=1, end=2, mask=3)


def test_wordpiece_marks_continuations(lines: list[str]) -> None:
    tokenizer = train_tokenizer(lines, kind="wordpiece", vocab_size=500)
    pieces = tokenizer.encode("unbelievable", add_special=False).pieces
    assert "".join(piece.removeprefix("##") for piece in pieces) == "unbelievable"
    assert [piece.startswith("##") for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert tokenizer.decode(tokenizer.encode("unbelievable").ids) == "unbelievable"


def test_unigram_marks_word_starts(lines: list[str]) -> None:
    tokenizer = train_tokenizer(lines, kind="unigram", vocab_size=500)
    text = "the  people speak, unbelievable"
    pieces = tokenizer.encode(text).pieces
    assert pieces[0] == "▁the"
    assert "".join(pieces) == "▁" + text.replace(" ", "▁")
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.mark.parametrize("kind", KINDS)
def test_vocabulary_size_is_kept(lines: list[str], kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(iter(lines), kind=kind, vocab_size=600)
    if kind is TokenizerKind.CHARACTER:
        assert tokenizer.vocab_size == len(set("".join(lines))) + 5
    else:
        assert tokenizer.vocab_size == 600
    assert tokenizer.special.pad == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_corpus_gives_what_it_has(kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(["to be or not to be"], kind=kind, vocab_size=5000)
    assert 5 < tokenizer.vocab_size < 300
    text = "not to be"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.mark.parametrize("kind", KINDS)
def test_lowercase(kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(["To BE or not to be"], kind=kind, vocab_size=300, lowercase=True)
    encoding = tokenizer.encode("TO Be")
    assert tokenizer.decode(encoding.ids) == "to be"
    assert max(end for _, end in encoding.offsets) == 5


def test_lowercase_keeps_the_vowel_signs_of_hindi() -> None:
    tokenizer = train_tokenizer(["आप कैसे हैं"], kind="wordpiece", vocab_size=100, lowercase=True)
    assert tokenizer.decode(tokenizer.encode("आप कैसे हैं").ids) == "आप कैसे हैं"


PROGRAM = """
import hashlib, sys
from clearhead.text import train_tokenizer
lines = sys.stdin.read().splitlines()
for kind in sys.argv[2:]:
    path = train_tokenizer(lines, kind=kind, vocab_size=500).save(sys.argv[1])
    print(hashlib.sha256(path.read_bytes()).hexdigest())
"""


def test_the_same_texts_give_the_same_file(lines: list[str], tmp_path: Path) -> None:
    """In processes of their own: the library's hash tables are ordered by chance, once for each process or table."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "theirs"), *KINDS]
    theirs = subprocess.run(command, input="\n".join(lines[:1500]), capture_output=True, text=True, check=True)
    ours = [
        hashlib.sha256(content(train_tokenizer(iter(lines[:1500]), kind=kind, vocab_size=500), tmp_path)).hexdigest()
        for kind in KINDS
    ]
    assert theirs.stdout.split() == ours
    assert len(set(ours)) == len(KINDS)
    assert theirs.stderr == ""


@pytest.mark.parametrize("kind", [TokenizerKind.WORDPIECE, TokenizerKind.UNIGRAM])
def test_ties_are_broken_the_same_way(kind: TokenizerKind, tmp_path: Path) -> None:
    texts = ["abcd bcda cdab dabc efgh fghe ghef hefg zyxw QVJX"]
    files = {content(train_tokenizer(texts, kind=kind, vocab_size=60), tmp_path) for _ in range(8)}
    assert len(files) == 1


def test_texts_are_read_once_and_one_at_a_time() -> None:
    taken: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(5000):
            taken.append(number)
            yield f"word{number}"

    source = texts()
    train_tokenizer(source, kind="wordpiece", vocab_size=100)
    assert taken == list(range(5000))
    assert next(source, None) is None


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        train_tokenizer([WORLD] * 50, kind=kind, vocab_size=300)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_an_empty_corpus(kind: TokenizerKind, texts: list[str]) -> None:
    with pytest.raises(TextError, match="nothing to learn from"):
        train_tokenizer(texts, kind=kind)


@pytest.mark.parametrize("kind", ["word", "wordpiece"])
def test_a_corpus_of_spaces_has_no_words(kind: str) -> None:
    with pytest.raises(TextError, match="nothing to learn from"):
        train_tokenizer(["  ", "\n"], kind=kind)


@pytest.mark.parametrize(
    ("kind", "vocab_size", "needed"),
    [
        ("word", 5, "at least 6"),
        ("bpe", 259, "at least 260"),
        ("character", 10, "at least 22"),
        ("wordpiece", 12, "at least 32"),
        ("unigram", 8, "one piece for each character"),
        ("word", -1, "at least 6"),
    ],
)
def test_a_vocabulary_that_is_too_small(kind: str, vocab_size: int, needed: str) -> None:
    with pytest.raises(TextError, match="too small for its alphabet") as caught:
        train_tokenizer([WORLD], kind=kind, vocab_size=vocab_size)
    assert needed in str(caught.value)


def test_a_vocabulary_that_no_machine_holds() -> None:
    with pytest.raises(TextError, match=str(MAX_VOCAB_SIZE)):
        train_tokenizer([WORLD], vocab_size=10**15)


def test_an_unknown_kind_lists_the_known_ones() -> None:
    with pytest.raises(TextError, match="one of word, character, bpe, wordpiece, unigram") as caught:
        train_tokenizer([WORLD], kind="unigrams")
    assert caught.value.advice == "did you mean unigram?"


def test_one_text_is_not_a_corpus() -> None:
    with pytest.raises(TextError, match="one text where many are needed"):
        train_tokenizer(WORLD)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_texts_raise_arrives(kind: TokenizerKind) -> None:
    def texts() -> Iterator[str]:
        yield WORLD
        raise KeyError("theirs")

    with pytest.raises(KeyError, match="theirs"):
        train_tokenizer(texts(), kind=kind)
    with pytest.raises(TextError, match="surrogate"):
        train_tokenizer([WORLD, "\udc00"], kind=kind)


def test_special_tokens_that_cannot_be() -> None:
    with pytest.raises(TextError, match="without an unknown token"):
        train_tokenizer([WORLD], kind="word", special=SpecialTokens(pad="<pad>"))
    with pytest.raises(TextError, match="without letters"):
        train_tokenizer([WORLD], kind="bpe", special=SpecialTokens(pad=" "))


def test_no_special_tokens_at_all() -> None:
    tokenizer = train_tokenizer([WORLD], kind="bpe", vocab_size=256, special=SpecialTokens())
    assert tokenizer.vocab_size == 256
    assert tokenizer.special == SpecialIds()
