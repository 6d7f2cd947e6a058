"""Counting gives the vectors that one can work out by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from jaxtyping import config

from clearhead.errors import TextError
from clearhead.text import DocumentVectors, Weighting, one_hot
from clearhead.text.document_vectors import Match

DOCUMENTS = ["The cat sat on the mat.", "The dog sat on the log!", "AI changes the world."]


def test_one_hot_rows_are_the_identity() -> None:
    assert np.array_equal(one_hot(["mat", "cat", "rat"]), np.eye(3))


def test_one_hot_over_a_given_vocabulary() -> None:
    rows = one_hot(["cat", "cat"], vocabulary=["mat", "cat", "rat"])
    assert rows.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_king_and_queen_are_unrelated_here() -> None:
    king, queen = one_hot(["king", "queen"])
    assert king @ queen == 0


def test_counts_over_a_fixed_vocabulary() -> None:
    vectors = DocumentVectors(documents=["AI world"], vocabulary=["AI", "changes", "world"])
    assert vectors.matrix.tolist() == [[1, 0, 1]]
    assert vectors.vector("world, world! ai").tolist() == [0, 0, 2]


def test_the_vocabulary_is_learned_with_case_and_without_marks() -> None:
    assert DocumentVectors(documents=["The cat, the Cat."]).vocabulary == ("Cat", "The", "cat", "the")
    lowered = DocumentVectors(documents=["The cat, the Cat."], lowercase=True)
    assert lowered.vocabulary == ("cat", "the")
    assert lowered.vector("CAT the").tolist() == [1, 1]


def test_lowercase_reaches_a_given_vocabulary() -> None:
    assert DocumentVectors(documents=["AI ai"], vocabulary=["AI"], lowercase=True).matrix.tolist() == [[2]]


def test_hindi_words_stay_whole() -> None:
    assert DocumentVectors(documents=["आप कैसे हैं"]).vocabulary == ("आप", "कैसे", "हैं")


def test_tfidf_is_the_formula() -> None:
    vectors = DocumentVectors(documents=["a a b", "b"], weighting=Weighting.TFIDF)
    raw = np.array([2 * (1 + math.log(3 / 2)), 1 + math.log(3 / 3)])
    assert vectors.vocabulary == ("a", "b")
    np.testing.assert_allclose(vectors.matrix[0], raw / np.linalg.norm(raw))
    assert vectors.matrix[1].tolist() == [0, 1]


@pytest.mark.parametrize("weighting", Weighting)
def test_nearest_documents(weighting: Weighting) -> None:
    vectors = DocumentVectors(documents=iter(DOCUMENTS), weighting=weighting)
    found = vectors.nearest("the dog and the log")
    assert [match.place for match in found] == [1, 2, 0]
    assert found[0].similarity > found[1].similarity > found[2].similarity > 0
    assert vectors.nearest("changes", n=5) == [Match(2, pytest.approx(vectors.nearest("changes")[0].similarity))]
    assert vectors.nearest(DOCUMENTS[1], n=1) == [Match(1, pytest.approx(1))]


def test_the_cosine_of_counts() -> None:
    assert DocumentVectors(documents=["a b"]).nearest("a")[0].similarity == pytest.approx(1 / math.sqrt(2))


def test_a_query_without_a_known_word() -> None:
    with pytest.raises(TextError, match="did you mean changes") as caught:
        DocumentVectors(documents=DOCUMENTS).nearest("chanjes!")
    assert "'chanjes!'" in str(caught.value)


@pytest.mark.parametrize(
    ("documents", "vocabulary", "problem"),
    [
        ([], None, "documents without words"),
        ([], ["a"], "no documents"),
        (["...", ""], None, "documents without words"),
        (["a"], [], "a vocabulary without words"),
        (["a"], ["a", "b", "a"], "names a word twice"),
        (["\ud800"], None, "surrogate"),
        ("a text", None, "one text where many are needed"),
    ],
)
def test_documents_that_cannot_be_counted(documents: Sequence[str], vocabulary: list[str] | None, problem: str) -> None:
    with pytest.raises(TextError, match=problem):
        DocumentVectors(documents=documents, vocabulary=vocabulary)


def test_what_one_hot_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TextError, match="did you mean cat"):
        one_hot(["cats"], vocabulary=["cat", "mat"])
    with pytest.raises(TextError, match="without words"):
        one_hot([])
    with pytest.raises(TextError, match="too large to write out"):
        one_hot([str(number) for number in range(20_000)])
    monkeypatch.setattr(config, "jaxtyping_disable", True)
    with pytest.raises(TextError, match="not text"):
        one_hot([1, 2])  # pyright: ignore[reportArgumentType]


def test_a_number_of_documents_to_find() -> None:
    with pytest.raises(TextError, match="1 or more"):
        DocumentVectors(documents=DOCUMENTS).nearest("the", n=0)
