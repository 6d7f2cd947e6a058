"""The worked examples, each computed once for all golden tests."""

from collections.abc import Callable
from functools import cache

import pytest
import torch

from clearhead.lessons import EXAMPLES, WorkedExample


@cache
def work(key: str) -> WorkedExample:
    return EXAMPLES[key]()


@pytest.fixture
def worked() -> Callable[[str], WorkedExample]:
    return work


@pytest.fixture
def close() -> Callable[[object, object, int], None]:
    """Asserts that two values are the same when rounded to so many digits."""

    def check(computed: object, expected: object, digits: int) -> None:
        ours = torch.tensor(computed, dtype=torch.float64)
        theirs = torch.tensor(expected, dtype=torch.float64)
        assert ours.shape == theirs.shape
        assert (ours - theirs).abs().max() <= 0.5 * 10.0**-digits + 1e-12

    return check
