"""The hand-made alignments are whole: every word has a link, and none points beyond its sentence."""

import re

import pytest

from ...golden.alignments import PAIRS, Pair


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.source)
def test_every_link_is_between_words_that_are_there(pair: Pair) -> None:
    source, target = (re.findall(r"\w+|[^\w\s]", text) for text in (pair.source, pair.target))
    assert {a for a, _ in pair.possible} == set(range(len(source)))
    assert {b for _, b in pair.possible} == set(range(len(target)))
    assert pair.sure <= pair.possible
