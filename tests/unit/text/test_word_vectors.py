"""Word vectors: what they find, how they are trained, kept and read."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import TextError
from clearhead.text import WordVectors

WORDS = ["king", "queen", "man", "woman", "mat"]
MATRIX = np.array([[1, 1, 0], [1, -1, 0], [0, 1, 0.1], [0, -1, 0.1], [0, 0, 2]], np.float32)
FORMATS = ["v.txt", "v.txt.gz", "v.bin", "v.bin.gz"]


@pytest.fixture
def small() -> WordVectors:
    return WordVectors(words=WORDS, matrix_VD=MATRIX)


@pytest.fixture(scope="module")
def glove(shared: Path) -> WordVectors:
    return WordVectors.load(shared / "data/glove/glove.6B.50d.top20k.txt.gz")


def test_king_minus_man_plus_woman(glove: WordVectors) -> None:
    assert glove.analogy("king", "man", "woman", 1)[0].word == "queen"
    assert (len(glove), glove.width, glove.matrix.dtype) == (20_000, 50, np.float32)


def test_the_numbers_are_those_of_the_file(glove: WordVectors, shared: Path) -> None:
    with gzip.open(shared / "data/glove/glove.6B.50d.top20k.txt.gz", "rt", encoding="utf-8") as file:
        word, *numbers = file.readline().split()
    assert glove[word].tolist() == np.array(numbers, np.float32).tolist()


def test_neighbours_mean_something(glove: WordVectors) -> None:
    assert "dog" in {neighbour.word for neighbour in glove.neighbours("cat", 3)}
    assert glove.similarity("cat", "dog") > glove.similarity("cat", "parliament")


def test_only_the_first_words(shared: Path) -> None:
    vectors = WordVectors.load(shared / "data/glove/glove.6B.50d.top20k.txt.gz", limit=3)
    assert vectors.words == ("the", ",", ".")


def test_analogy_and_neighbours(small: WordVectors) -> None:
    assert small.analogy("king", "man", "woman", 1)[0].word == "queen"
    found = small.neighbours("king", 99)
    assert [neighbour.similarity for neighbour in found] == sorted((n.similarity for n in found), reverse=True)
    assert {neighbour.word for neighbour in found} == set(WORDS) - {"king"}
    assert found[0].similarity == pytest.approx(small.similarity("king", found[0].word))


def test_a_zero_vector_is_like_nothing() -> None:
    vectors = WordVectors(words=["zero", "a", "b"], matrix_VD=np.array([[0, 0], [1, 0], [1, 1]], np.float32))
    assert vectors.similarity("zero", "a") == 0
    assert [neighbour.similarity for neighbour in vectors.neighbours("zero")] == [0, 0]


def test_rows_for_a_vocabulary(small: WordVectors) -> None:
    rows = small.matrix_for(["mat", "unicorn", "king"])
    assert rows.matrix.tolist() == [MATRIX[4].tolist(), [0, 0, 0], MATRIX[0].tolist()]
    assert rows.missing == ("unicorn",)
    assert rows.matrix.dtype == np.float32


@pytest.mark.parametrize("name", FORMATS)
def test_saving_loses_nothing(tmp_path: Path, name: str) -> None:
    matrix = np.random.default_rng(0).standard_normal((50, 7)).astype(np.float32)
    matrix[0, 0], matrix[1, 1] = 1e-38, 1e18
    words = ["naïve", "आप", "\u00a0", "a\u2028b", "0.5", *map(str, range(45))]
    vectors = WordVectors(words=words, matrix_VD=matrix)
    path = vectors.save(tmp_path / name)
    first = path.read_bytes()
    loaded = WordVectors.load(path)
    assert loaded.words == vectors.words
    assert np.array_equal(loaded.matrix, matrix)
    assert loaded.save(path).read_bytes() == first


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("word", ["two\nlines", "two 2", " a", ""])
def test_a_word_that_would_not_come_back(tmp_path: Path, name: str, word: str) -> None:
    vectors = WordVectors(words=["ok", word], matrix_VD=np.eye(2, dtype=np.float32))
    with pytest.raises(TextError, match="cannot hold"):
        vectors.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


SENTENCES = ["the king rules the land", "the queen rules the land", "a cat sat on a mat", "a dog sat on a log"] * 30


def test_training_learns_from_context() -> None:
    vectors = WordVectors.train(SENTENCES, width=16, epochs=20, seed=1)
    assert set(vectors.words) == set(" ".join(SENTENCES).split())
    assert vectors.similarity("king", "queen") > vectors.similarity("king", "cat")


def test_texts_and_lists_of_words_are_the_same() -> None:
    texts = WordVectors.train(SENTENCES, width=8, seed=1)
    lists = WordVectors.train([sentence.split() for sentence in SENTENCES], width=8, seed=1)
    assert np.array_equal(texts.matrix, lists.matrix)
    assert not np.array_equal(texts.matrix, WordVectors.train(SENTENCES, width=8, seed=2).matrix)


PROGRAM = """
import hashlib
from clearhead.text import WordVectors
vectors = WordVectors.train(["the king rules the land", "a cat sat on a mat"] * 30, width=8, seed=5)
print(*vectors.words, hashlib.sha256(vectors.matrix.tobytes()).hexdigest())
"""


def test_training_does_not_depend_on_python_hashing() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_an_unknown_word_is_advised_on(small: WordVectors, glove: WordVectors) -> None:
    with pytest.raises(TextError, match="did you mean queen"):
        small.neighbours("quean")
    with pytest.raises(TextError, match="did you mean king"):
        glove["King"]
    with pytest.raises(TextError, match="one of 5 words"):
        small.analogy("king", "man", "zebra")
    assert "zebra" not in small
    assert "king" in small


def test_what_training_refuses() -> None:
    with pytest.raises(TextError, match="read again and again"):
        WordVectors.train(sentence for sentence in SENTENCES)
    with pytest.raises(TextError, match="read again and again"):
        WordVectors.train("one text")
    with pytest.raises(TextError, match="without words to learn"):
        WordVectors.train(["", "  "])
    with pytest.raises(TextError, match="occur 5 times"):
        WordVectors.train(["a b c"], min_count=5)
    with pytest.raises(TextError, match="a width out of range"):
        WordVectors.train(SENTENCES, width=0)


@pytest.mark.parametrize("n", [0, -3])
def test_a_number_that_is_not_positive(small: WordVectors, tmp_path: Path, n: int) -> None:
    with pytest.raises(TextError, match="1 or more"):
        small.neighbours("king", n)
    with pytest.raises(TextError, match="1 or more"):
        WordVectors.load(tmp_path / "any", limit=n)


@pytest.mark.parametrize(
    ("words", "matrix"),
    [
        ([], np.zeros((0, 3))),
        (["a"], np.zeros((2, 3))),
        (["a", "a"], np.zeros((2, 3))),
        (["a"], np.array([[np.nan]])),
        (["a"], np.array([[3e38, 3e38]])),
        (["\ud800"], np.ones((1, 1))),
    ],
)
def test_words_and_vectors_must_belong_together(words: list[str], matrix: np.ndarray) -> None:
    with pytest.raises(TextError):
        WordVectors(words=words, matrix_VD=matrix.astype(np.float32))


def test_the_embedded_vectors_know_queens_and_capitals() -> None:
    vectors = WordVectors.embedded()
    assert (len(vectors), vectors.width) == (5000, 50)
    assert vectors.analogy("king", "man", "woman", n=1)[0].word == "queen"
    assert vectors.analogy("paris", "france", "germany", n=1)[0].word == "berlin"
    assert np.array_equal(vectors.matrix, vectors.matrix.astype(np.float16))
