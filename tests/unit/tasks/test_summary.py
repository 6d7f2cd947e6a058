"""Summaries of texts of any length."""

import pytest

from clearhead.errors import ConfigError
from clearhead.tasks import summarize
from clearhead.tasks.sources import source_ids

from .conftest import Make

QUICK = {"max_new_tokens": 3, "beams": 1}


def test_a_long_text_is_summarised_by_pieces(writer: Make) -> None:
    loaded = writer("t5", foreign={"n_positions": 40})
    text = "The cat sat on a mat. " * 6
    assert len(source_ids(loaded, [text], prefix="summarize: ")[0]) > loaded.source_limit == 40
    long, short = summarize(loaded, [text, "The cat sat."], **QUICK)
    assert len(long.tokens) == 6 * 3
    assert len(short.tokens) == 3
    assert long.text.count(short.text) <= long.text.count(" ") + 1


def test_summaries_that_are_still_too_long_are_summarised_again(writer: Make) -> None:
    loaded = writer("t5", foreign={"n_positions": 40})
    text = "The cat sat on a mat. " * 40
    (found,) = summarize(loaded, [text], **QUICK)
    assert len(found.tokens) < 40 * 3  # one round writes three tokens for each of forty pieces
    assert len(source_ids(loaded, [found.text], prefix="summarize: ")[0]) < 40 * 3


def test_the_folder_says_how_it_is_asked(writer: Make) -> None:
    text = "The cat sat."
    plain = writer("t5")
    said = writer("t5", foreign={"task_specific_params": {"summarization": {"prefix": "kurz: "}}})
    one, other = (summarize(loaded, [text], **QUICK)[0].score for loaded in (plain, said))
    assert one != other


def test_white_space_stays_as_it_is(writer: Make) -> None:
    found = summarize(writer("t5"), ["", " \n", "a"], **QUICK)
    assert [one.text for one in found[:2]] == ["", " \n"]
    assert found[2].tokens


def test_a_decoder_does_not_summarise(writer: Make) -> None:
    with pytest.raises(ConfigError, match="it can complete"):
        summarize(writer("gpt2"), ["a"])
