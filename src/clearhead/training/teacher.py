"""A teacher: a model whose sentence vectors a student learns.

A student may be narrower than its teacher. The teacher's vectors are then laid into as many directions as the student
has, those in which they differ most, so that there is still one vector for each text to learn:

    target = vector · directions^T        directions: the first right singular vectors of a sample of vectors
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np
from jaxtyping import Float

from clearhead.tasks import Loaded, embed

SAMPLE = 4096
"""How many texts the directions are taken from; fewer than the student is wide would say nothing of the rest."""

Teacher = Callable[[Sequence[str]], Float[np.ndarray, "B D"]]


def teacher_of(name: str, *, width: int, texts: Callable[[], Iterable[str]]) -> Teacher:
    """What gives each text the vector that a student of this width learns.

    Args:
        name: The teacher.
        width: How wide the student is.
        texts: What the student will learn from; read only where the teacher is wider.

    Raises:
        ConfigError: A model that gives texts no vectors.
    """
    loaded = Loaded.open(name)
    loaded.require("embed")

    def vectors(some: Sequence[str]) -> Float[np.ndarray, "B D"]:
        return embed(loaded, some, truncate=True)

    if loaded.config.width <= width:
        return vectors
    sample = list(islice(texts(), SAMPLE))
    if len(sample) < width:
        return vectors  # too few to know directions by: likenesses between texts are learned instead
    directions_CD = directions(vectors(sample), width)

    def narrowed(some: Sequence[str]) -> Float[np.ndarray, "B C"]:
        return vectors(some) @ directions_CD.T

    return narrowed


def directions(vectors_BD: Float[np.ndarray, "B D"], n: int) -> Float[np.ndarray, "C D"]:
    """The directions that keep most of some vectors, one a row, at right angles to each other."""
    _, _, found_DD = np.linalg.svd(vectors_BD, full_matrices=False)
    found_CD = found_DD[:n]
    # The sign of a direction is arbitrary; this one makes the same data give the same vectors everywhere.
    largest = found_CD[np.arange(len(found_CD)), np.abs(found_CD).argmax(1)]
    return (found_CD * np.sign(largest)[:, None]).astype(np.float32)
