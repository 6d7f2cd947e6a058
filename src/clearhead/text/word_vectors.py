"""Static word vectors: one vector for each word, whatever the sentence.

Takes: sentences to learn from, or a file of published vectors.
Gives: WordVectors: neighbours, analogies, similarities, rows for an embedding.
Uses:  errors, vector_files, words; gensim.
Never: a word's context; the "bank" of a river and the one with money are the same vector here.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gensim.models import KeyedVectors, Word2Vec  # pyright: ignore[reportMissingTypeStubs]  (gensim ships no types)
from jaxtyping import Float32

from clearhead.errors import TextError, nearest
from clearhead.text.vector_files import MAX_WIDTH, read_vectors, write_vectors
from clearhead.text.words import check_text, split_words

__all__ = ["Neighbour", "Rows", "WordVectors"]

_N_SPELLINGS = 20_000
_EMBEDDED = Path(__file__).parents[1] / "pretrained" / "words" / "words.bin.gz"


class Neighbour(NamedTuple):
    """A word and its cosine with what was asked for."""

    word: str
    similarity: float


class Rows(NamedTuple):
    """Vectors in the order of a given vocabulary; a missing word's row is zero."""

    matrix: Float32[np.ndarray, "V D"]
    missing: tuple[str, ...]


class WordVectors:
    """Words and their vectors.

    Args:
        words: The words, each once, the most frequent first where that is known.
        matrix_VD: A row for each word.
    """

    def __init__(self, *, words: Sequence[str], matrix_VD: Float32[np.ndarray, "V D"]) -> None:
        if (
            not words
            or len(words) != len(matrix_VD)
            or len(set(words)) != len(words)
            or not np.isfinite(matrix_VD).all()
        ):
            raise TextError(
                "words and vectors that do not belong together",
                got=f"{len(words)} words ({len(set(words))} different), {len(matrix_VD)} vectors",
                expected="one finite vector for each word, each word once",
            )
        self.words: tuple[str, ...] = tuple(check_text(word) for word in words)
        self._vectors: Any = KeyedVectors(matrix_VD.shape[1])
        self._vectors.add_vectors(list(self.words), matrix_VD)
        with np.errstate(over="ignore"):
            self._vectors.fill_norms()
        if not np.isfinite(self._vectors.norms).all():
            raise TextError("a vector that is too long to compare", expected="numbers of ordinary size")
        # A zero vector is like nothing: cosine 0, not a division by zero.
        self._vectors.norms[self._vectors.norms == 0] = 1

    @classmethod
    def train(
        cls,
        sentences: Iterable[str | Sequence[str]],
        *,
        width: int = 100,
        window: int = 5,
        min_count: int = 1,
        epochs: int = 5,
        seed: int = 0,
    ) -> "WordVectors":
        """Learn vectors with Word2Vec (skip-gram with negative sampling, Mikolov et al. 2013).

        One worker reads the sentences in order, so the same sentences and seed give the same vectors.

        Args:
            sentences: Lists of words, or texts, which are split into words. They are read several times, so a list
                or another object that can be read again, not a generator.
            width: How many numbers a vector has.
            window: How many words to each side are a word's context.
            min_count: How often a word must occur to get a vector.
            epochs: How often the sentences are read.
            seed: Where chance starts.
        """
        if isinstance(sentences, (str, Iterator)):
            raise TextError(
                "sentences that cannot be read again and again",
                got=type(sentences).__name__,
                expected="a list of sentences",
            )
        for name, value in (("width", width), ("window", window), ("min_count", min_count), ("epochs", epochs)):
            if not 1 <= value <= MAX_WIDTH:
                raise TextError(f"a {name} out of range", got=value, expected=f"1 to {MAX_WIDTH}")
        corpus = _Sentences(sentences=sentences)
        model: Any = Word2Vec(
            vector_size=width, window=window, min_count=min_count, seed=seed, sg=1, workers=1, epochs=epochs
        )
        model.build_vocab(corpus)
        if not len(model.wv):
            raise TextError("sentences without words to learn", expected=f"words that occur {min_count} times or more")
        model.train(corpus, total_examples=model.corpus_count, epochs=epochs)
        return cls(words=model.wv.index_to_key, matrix_VD=model.wv.vectors)

    @classmethod
    def load(cls, path: Path | str, *, limit: int | None = None) -> "WordVectors":
        """Vectors from GloVe text, word2vec text or word2vec binary, gzipped or not: all, or the first `limit`."""
        if limit is not None and limit < 1:
            raise TextError("a number of words to load that is not positive", got=limit, expected="1 or more")
        words, matrix_VD = read_vectors(Path(path), limit=limit)
        return cls(words=words, matrix_VD=matrix_VD)

    @classmethod
    def embedded(cls) -> "WordVectors":
        """The vectors of a few thousand frequent English words that come with the package, for the course.

        Raises:
            TextError: They were left out of this installation.
        """
        return cls.load(_EMBEDDED)

    def save(self, path: Path | str) -> Path:
        """Write word2vec binary where the name ends in .bin, word2vec text otherwise; .gz after either zips it."""
        write_vectors(Path(path), self.words, self.matrix)
        return Path(path)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word in self._vectors

    def __getitem__(self, word: str) -> Float32[np.ndarray, " D"]:
        return self._vectors[self._known(word)]

    @property
    def matrix(self) -> Float32[np.ndarray, "V D"]:
        """All vectors, a row for each of `words`."""
        return self._vectors.vectors

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.matrix.shape[1]

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words' vectors."""
        return float(self._vectors.similarity(self._known(a), self._known(b)))

    def neighbours(self, word: str, n: int = 10) -> list[Neighbour]:
        """The `n` words most like a word, the most like it first."""
        return self._most_similar([self._known(word)], [], n)

    def analogy(self, a: str, b: str, c: str, n: int = 10) -> list[Neighbour]:
        """The `n` words nearest to a − b + c, a, b and c themselves left out: king − man + woman."""
        return self._most_similar([self._known(a), self._known(c)], [self._known(b)], n)

    def matrix_for(self, words: Sequence[str]) -> Rows:
        """A row for each word of a vocabulary, and which of them are missing; for the start of an embedding."""
        rows_VD = np.zeros((len(words), self.width), np.float32)
        missing: list[str] = []
        for row, word in enumerate(words):
            if word in self:
                rows_VD[row] = self._vectors[word]
            else:
                missing.append(word)
        return Rows(rows_VD, tuple(missing))

    def _most_similar(self, plus: list[str], minus: list[str], n: int) -> list[Neighbour]:
        if n < 1:
            raise TextError("a number of neighbours that is not positive", got=n, expected="1 or more")
        found = self._vectors.most_similar(positive=plus, negative=minus, topn=min(n, len(self)))
        return [Neighbour(word, float(similarity)) for word, similarity in found]

    def _known(self, word: str) -> str:
        if check_text(word) in self._vectors:
            return word
        # Comparing spellings is slow; a slip of the pen rarely touches the first letter or adds many.
        alike = (
            known for known in self.words if known[:1].lower() == word[:1].lower() and abs(len(known) - len(word)) < 3
        )
        raise TextError(
            "a word without a vector",
            got=repr(word),
            expected=f"one of {len(self)} words",
            advice=nearest(word, islice(alike, _N_SPELLINGS)),
        )


class _Sentences:
    """Sentences as lists of words, as often as they are asked for."""

    def __init__(self, *, sentences: Iterable[str | Sequence[str]]) -> None:
        self._sentences = sentences

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self._sentences:
            if isinstance(sentence, str):
                yield split_words(sentence)
            else:
                yield [check_text(word) for word in sentence]
