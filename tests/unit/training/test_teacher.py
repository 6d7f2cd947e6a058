"""A wider teacher's vectors, laid into as many directions as the student has."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clearhead.config import HeadKind
from clearhead.model import Model
from clearhead.training.teacher import directions, teacher_of

Make = Callable[..., Model]


def test_directions_are_square_and_keep_the_most() -> None:
    draws = np.random.default_rng(0).normal(size=(500, 8)) * np.array([9, 5, 3, 1, 0.1, 0.1, 0.1, 0.1])
    found = directions(draws.astype(np.float32), 4)
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-5)
    kept = np.square(draws @ found.T).sum() / np.square(draws).sum()
    assert kept > 0.99


@pytest.mark.parametrize(("width", "expected"), [(4, 4), (16, 16), (99, 16)])
def test_a_student_is_given_vectors_that_it_can_hold(
    tiny_model: Make, tmp_path: Path, width: int, expected: int
) -> None:
    folder = tiny_model("bert", HeadKind.SENTENCE).save_pretrained(tmp_path / "teacher")
    texts = [f"{number} texts" for number in range(40)]
    teacher = teacher_of(str(folder), width=width, texts=lambda: iter(texts))
    vectors = teacher(texts[:5])
    assert vectors.shape == (5, expected) and vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, teacher(texts[:5]))


def test_too_few_texts_leave_the_teachers_own_vectors(tiny_model: Make, tmp_path: Path) -> None:
    folder = tiny_model("bert", HeadKind.SENTENCE).save_pretrained(tmp_path / "teacher")
    assert teacher_of(str(folder), width=4, texts=lambda: iter(["one"]))(["a"]).shape == (1, 16)
