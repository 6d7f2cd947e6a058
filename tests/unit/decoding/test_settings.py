import math
from dataclasses import fields
from typing import Any

import pytest

from clearhead.decoding import DecodingSettings
from clearhead.errors import DecodingError

WRONG: list[tuple[str, Any]] = [
    ("temperature", -0.1),
    ("temperature", math.nan),
    ("temperature", math.inf),
    ("temperature", 1e40),
    ("top_k", -1),
    ("top_k", 10**400),
    ("top_p", 0.0),
    ("top_p", 1.01),
    ("top_p", math.nan),
    ("min_p", -0.01),
    ("min_p", 1.5),
    ("repetition_penalty", 0.0),
    ("repetition_penalty", -1.0),
    ("repetition_penalty", 1e300),
    ("repetition_penalty", math.nan),
    ("no_repeat_ngram", -1),
    ("min_new_tokens", -1),
    ("max_new_tokens", -1),
    ("max_new_tokens", 10**12),
    ("max_length", 0),
    ("beams", 0),
    ("beams", 10**6),
    ("n_best", 0),
    ("length_penalty", math.nan),
    ("length_penalty", -math.inf),
    ("length_penalty", 1e6),
    ("seed", 2**63),
    ("seed", -(2**63) - 1),
    ("forced_end", -1),
    ("end_ids", (3, -1)),
    ("forced_start", (-2,)),
    ("bad_words", ((1,), (2, -5))),
    ("bad_words", ((1,), ())),
    ("stop", ("x", "")),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=[f"{name}-{place}" for place, (name, _) in enumerate(WRONG)])
def test_a_value_out_of_range_is_named_with_what_is_allowed(name: str, value: Any) -> None:
    with pytest.raises(DecodingError) as caught:
        DecodingSettings(**{name: value})
    assert name in caught.value.problem or caught.value.problem in (
        "a bad word that is empty",
        "a stop string that is empty",
    )
    assert caught.value.expected
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "fine",
    [
        {"temperature": 0.0},
        {"temperature": 1e-8},
        {"top_p": 1.0, "min_p": 1.0},
        {"seed": -(2**63)},
        {"max_new_tokens": 0},
        {"length_penalty": -1.0},
        {"repetition_penalty": 0.5},
        {"beams": 4, "n_best": 4},
        {"stop": ("\n",), "sample": True},
    ],
    ids=str,
)
def test_the_edges_of_what_is_allowed_are_allowed(fine: dict[str, Any]) -> None:
    DecodingSettings(**fine)


def test_more_results_than_beams_are_refused() -> None:
    with pytest.raises(DecodingError) as caught:
        DecodingSettings(beams=2, n_best=3)
    assert "n_best=3" in str(caught.value.got)
    assert "beams=2" in str(caught.value.got)
    assert caught.value.advice == "beams=3"


@pytest.mark.parametrize("other", [{"sample": True}, {"stop": (".",)}], ids=["sampling", "stop"])
def test_beams_stand_alone(other: dict[str, Any]) -> None:
    with pytest.raises(DecodingError, match="beams"):
        DecodingSettings(beams=2, **other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_k": "50"},
        {"beams": 2.0},
        {"temperature": "hot"},
        {"bad_words": [[1]]},
        {"end_ids": (True,)},
        {"early_stopping": "soon"},
        {"stop": "abc"},
        {"sample": 1},
    ],
    ids=str,
)
def test_a_value_of_another_kind_is_refused(wrong: dict[str, Any]) -> None:
    # Tests check every call against its annotations; this goes around them, as a caller without such checks does.
    made = object.__new__(DecodingSettings)
    for field in fields(DecodingSettings):
        object.__setattr__(made, field.name, wrong.get(field.name, field.default))
    with pytest.raises(DecodingError) as caught:
        made.__post_init__()
    assert next(iter(wrong)) in caught.value.problem
    assert caught.value.expected


def test_what_limits_the_length_first_counts() -> None:
    both = DecodingSettings(max_new_tokens=5, max_length=8)
    assert both.n_new(prompt_length=2) == 5
    assert both.n_new(prompt_length=6) == 2
    assert both.n_new(prompt_length=9) == -1
    assert DecodingSettings().n_new(prompt_length=3, default=7) == 7


def test_where_it_is_cold_nothing_is_drawn() -> None:
    assert not DecodingSettings(sample=True, temperature=0.0).draws
    assert not DecodingSettings(sample=True, temperature=1e-30).draws
    assert DecodingSettings(sample=True, temperature=0.01).draws
    assert not DecodingSettings(temperature=1.0).draws
