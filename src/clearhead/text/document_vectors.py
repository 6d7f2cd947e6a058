"""Vectors by counting: one-hot words, count vectors and TF-IDF.

Takes: words, or documents.
Gives: `one_hot`, and DocumentVectors with its nearest documents.
Uses:  errors, words; scikit-learn.
Never: meaning. Two different words are always at right angles here, king and queen no less than king and mat.

    count_w(d) = how often w stands in d        tfidf_w(d) = count_w(d) · (1 + ln((1 + n) / (1 + n_w)))

n documents, n_w of them with w in them; each TF-IDF vector is then scaled to length one (Salton and Buckley 1988,
smoothed as scikit-learn does).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from jaxtyping import Float64
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # pyright: ignore[reportMissingTypeStubs]
from sklearn.metrics.pairwise import cosine_similarity  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from clearhead.errors import TextError, nearest
from clearhead.text.words import check_text, split_words

__all__ = ["DocumentVectors", "Match", "Weighting", "one_hot"]

MAX_CELLS = 2**27


class Weighting(StrEnum):
    """What a cell of a document's vector holds."""

    COUNT = "count"
    TFIDF = "tfidf"


class Match(NamedTuple):
    """A document that was found: its place among the documents, and its cosine with the query."""

    place: int
    similarity: float


def one_hot(words: Sequence[str], *, vocabulary: Sequence[str] | None = None) -> Float64[np.ndarray, "B V"]:
    """A row for each word, with a single one in the word's own column.

    Args:
        words: The words.
        vocabulary: The columns; by default the words themselves, each once, in the order given.
    """
    columns = _checked_vocabulary(list(dict.fromkeys(words)) if vocabulary is None else vocabulary)
    _check_cells(len(words), len(columns))
    places = {word: place for place, word in enumerate(columns)}
    rows_BV = np.zeros((len(words), len(columns)))
    for row, word in enumerate(words):
        if word not in places:
            raise TextError("a word outside the vocabulary", got=repr(word), advice=nearest(str(word), columns))
        rows_BV[row, places[word]] = 1
    return rows_BV


class DocumentVectors:
    """Documents as vectors with one number for each word of a vocabulary.

    Args:
        documents: The documents.
        weighting: Whether the numbers are counts or TF-IDF.
        vocabulary: The words to count, in the order of the columns; by default every word of the documents, sorted.
            Punctuation is not counted.
        lowercase: Whether case is forgotten.
    """

    def __init__(
        self,
        *,
        documents: Iterable[str],
        weighting: Weighting = Weighting.COUNT,
        vocabulary: Sequence[str] | None = None,
        lowercase: bool = False,
    ) -> None:
        columns = None if vocabulary is None else _checked_vocabulary(vocabulary, lowercase=lowercase)
        build = cast(Any, TfidfVectorizer if weighting is Weighting.TFIDF else CountVectorizer)
        # Splitting and case are ours, so that every part of the room agrees on what a word is.
        self._vectorizer: Any = build(
            tokenizer=partial(_words, lowercase=lowercase),
            token_pattern=None,
            lowercase=False,
            vocabulary=columns,
            dtype=np.float64,
        )
        try:
            self.sparse: Any = self._vectorizer.fit_transform(_checked(documents))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise TextError("documents without words", expected="at least one word to count") from None
        if self.sparse.shape[0] == 0:
            raise TextError("no documents", expected="at least one")
        self.vocabulary: tuple[str, ...] = tuple(self._vectorizer.get_feature_names_out().tolist())
        self._lowercase = lowercase

    def __len__(self) -> int:
        return int(self.sparse.shape[0])

    @property
    def matrix(self) -> Float64[np.ndarray, "B V"]:
        """All vectors, a row for each document; `sparse` holds the same without its zeros."""
        _check_cells(len(self), len(self.vocabulary))
        return self.sparse.toarray()

    def vector(self, document: str) -> Float64[np.ndarray, " V"]:
        """The vector of any document; words outside the vocabulary do not count."""
        return self._vectorizer.transform([check_text(document)]).toarray()[0]

    def nearest(self, document: str, *, n: int = 5) -> list[Match]:
        """The documents most like a text, by cosine; those that share no word with it are left out."""
        if n < 1:
            raise TextError("a number of documents to find that is not positive", got=n, expected="1 or more")
        query: Any = self._vectorizer.transform([check_text(document)])
        if query.nnz == 0:
            words = _words(document, lowercase=self._lowercase)
            raise TextError(
                "a text without a word that the documents know",
                got=repr(document[:60]),
                advice=nearest(words[0], self.vocabulary) if words else None,
            )
        similarity_B = cast(np.ndarray, cosine_similarity(query, self.sparse))[0]
        order = np.argsort(-similarity_B, kind="stable")[:n].tolist()
        return [Match(place, float(similarity_B[place])) for place in order if similarity_B[place] > 0]


def _words(document: str, *, lowercase: bool) -> list[str]:
    return split_words(document.lower() if lowercase else document, marks=False)


def _checked(documents: Iterable[str]) -> Iterator[str]:
    if isinstance(documents, str):
        raise TextError("one text where many are needed", got=repr(documents[:60]), advice="a list that holds it")
    for document in documents:
        yield check_text(document)


def _checked_vocabulary(words: Sequence[str], *, lowercase: bool = False) -> list[str]:
    if isinstance(words, str):
        raise TextError("one text where a list of words is needed", got=repr(words[:60]))
    columns = [check_text(word).lower() if lowercase else check_text(word) for word in words]
    if not columns:
        raise TextError("a vocabulary without words", expected="at least one word")
    word, times = Counter(columns).most_common(1)[0]
    if times > 1:
        raise TextError("a vocabulary that names a word twice", got=repr(word))
    return columns


def _check_cells(n_rows: int, n_columns: int) -> None:
    if n_rows * n_columns > MAX_CELLS:
        raise TextError(
            "a table that is too large to write out with its zeros",
            got=f"{n_rows} rows of {n_columns}",
            expected=f"at most {MAX_CELLS} cells",
            advice="DocumentVectors.sparse, or a smaller vocabulary",
        )
