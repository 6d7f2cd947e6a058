"""What holds of what is asked, what a folder says and what is usual."""

from typing import Any

import pytest

from clearhead.decoding import EarlyStopping
from clearhead.errors import DecodingError, WeightsError
from clearhead.tasks.options import settings_of

from .conftest import Make


def test_what_is_asked_goes_before_the_folder_and_the_folder_before_what_is_usual(writer: Make) -> None:
    loaded = writer("marian", generation={"num_beams": 3, "length_penalty": 0.5, "early_stopping": True})
    found = settings_of(loaded, usual={"beams": 4, "no_repeat_ngram": 2}, asked={"length_penalty": 2.0})
    assert (found.beams, found.length_penalty, found.no_repeat_ngram) == (3, 2.0, 2)
    assert found.early_stopping is EarlyStopping.ALWAYS
    assert found.end_ids == (2,)


def test_what_the_folder_says_of_the_task_goes_before_what_it_says_of_all(writer: Make) -> None:
    params = {"summarization": {"num_beams": 2, "min_length": 5, "max_length": 9}}
    loaded = writer("t5", foreign={"num_beams": 6, "task_specific_params": params})
    found = settings_of(loaded, usual={}, asked={}, tasks=("summarization",))
    assert (found.beams, found.min_new_tokens, found.max_length) == (2, 4, 9)
    assert settings_of(loaded, usual={}, asked={}).beams == 6


@pytest.mark.parametrize(
    ("asked", "beams", "sample"),
    [
        ({}, 4, False),
        ({"sample": True}, 1, True),
        ({"temperature": 0.5}, 1, True),
        ({"temperature": 0}, 1, False),
        ({"top_p": 0.5, "beams": 2}, 2, False),
        ({"stop": "x"}, 1, False),
        ({"n_best": 6}, 6, False),
    ],
)
def test_what_is_asked_switches_off_what_it_does_not_go_with(
    writer: Make, asked: dict[str, Any], beams: int, sample: bool
) -> None:
    found = settings_of(writer("marian", generation={"num_beams": 4}), usual={}, asked=asked)
    assert (found.beams, found.sample) == (beams, sample)


@pytest.mark.parametrize(
    "says",
    [
        {"num_beams": "4"},
        {"num_beams": 0},
        {"temperature": [1]},
        {"do_sample": 1},
        {"max_length": -5},
        {"max_new_tokens": 1e30},
        {"early_stopping": "soon"},
        {"bad_words_ids": [[10**9]]},
        {"bad_words_ids": [[]]},
        {"bad_words_ids": {"a": 1}},
        {"forced_bos_token_id": "x"},
        {"forced_eos_token_id": [-1]},
        {"length_penalty": True},
        {"min_length": "x"},
    ],
    ids=str,
)
def test_a_hostile_folder_is_a_clear_error(writer: Make, says: dict[str, Any]) -> None:
    with pytest.raises(WeightsError) as caught:
        settings_of(writer("marian", generation=says), usual={}, asked={})
    assert next(iter(says)) in str(caught.value)


@pytest.mark.parametrize(
    "asked",
    [
        {"beams": 0},
        {"temperature": -1},
        {"beams": "4"},
        {"n_best": "4"},
        {"n_best": 0},
        {"stop": 3},
        {"bad_words": [1]},
        {"early_stopping": "soon"},
        {"sample": True, "beams": 2},
        {"forced_start": "x"},
        {"temprature": 1},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused(writer: Make, asked: dict[str, Any]) -> None:
    with pytest.raises(DecodingError):
        settings_of(writer("marian"), usual={"beams": 4}, asked=asked)


def test_a_misspelt_option_is_told_the_right_one(writer: Make) -> None:
    with pytest.raises(DecodingError, match="did you mean temperature"):
        settings_of(writer("gpt2"), usual={}, asked={"tempratur": 1})


def test_a_length_that_older_folders_carry_without_meaning_it_is_ignored(writer: Make) -> None:
    assert settings_of(writer("marian", foreign={"max_length": 20}), usual={}, asked={}).max_length is None
    assert settings_of(writer("marian", foreign={"max_length": 21}), usual={}, asked={}).max_length == 21
    # It counts the prompt, which a decoder's may outgrow.
    assert settings_of(writer("gpt2", foreign={"max_length": 21}), usual={}, asked={}).max_length is None


def test_bad_words_are_added_to_those_of_the_folder(writer: Make) -> None:
    loaded = writer("marian", generation={"bad_words_ids": [[7]]})
    found = settings_of(loaded, usual={}, asked={"bad_words": ["a"]}).bad_words
    encode = loaded.tokenizer.encode
    assert found == ((7,), encode("a").ids, encode(" a").ids)
