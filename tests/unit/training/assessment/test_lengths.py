"""Groups by length, and results as data and as lines."""

import json

import pytest

from clearhead.data import Task
from clearhead.errors import ConfigError
from clearhead.training.assessment import Assessment, AssessmentSettings, by_length, printed
from clearhead.training.assessment.results import (
    Findings,
    LengthRow,
    Likelihood,
    TranslationMeasures,
    Worst,
    exponential,
)
from clearhead.training.scores import TranslationScores


def count(places: list[int]) -> dict[str, float | None]:
    return {"first": float(places[0])}


def test_long_corpora_fall_into_the_usual_groups() -> None:
    lengths = [5, 10, 11, 25, 30, 31, 41, 900]
    rows = by_length(lengths, count)
    assert [(row.words, row.n, row.measures["first"]) for row in rows] == [
        ("1–10", 2, 0.0),
        ("11–20", 1, 2.0),
        ("21–30", 2, 3.0),
        ("31–40", 1, 5.0),
        ("41+", 2, 6.0),
    ]


def test_short_corpora_fall_into_groups_of_about_equal_numbers() -> None:
    rows = by_length([3, 4, 5, 6, 7, 8, 9, 10, 11, 12], count)
    assert [row.n for row in rows] == [2] * 5
    assert [row.words for row in rows] == ["1–4", "5–6", "7–8", "9–10", "11+"]
    alike = by_length([4] * 7, count)
    assert [(row.least, row.most, row.n) for row in alike] == [(1, 4, 7)]


def test_groups_can_be_given() -> None:
    assert [row.words for row in by_length([1, 2, 3], count, edges=(1, 2))] == ["1", "2", "3+"]


def test_every_example_is_in_one_group() -> None:
    seen: list[int] = []
    by_length([(7 * place) % 60 for place in range(200)], lambda places: seen.extend(places) or {})
    assert sorted(seen) == list(range(200))


def test_a_perplexity_is_never_too_large_to_say() -> None:
    assert exponential(1e6) < float("inf")


@pytest.mark.parametrize("wrong", [{"beams": 0}, {"beams": 65}, {"batch": 0}, {"worst": -1}, {"seed": -1}])
def test_settings_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        AssessmentSettings(**wrong)


SCORES = TranslationScores(
    bleu=31.25,
    bleu_signature="nrefs:1|case:mixed",
    chrf=55.5,
    chrf_signature="nc:6",
    bleu_lowercase=33.5,
    lowercase_signature="nrefs:1|case:lc",
)
REFERENCES = Likelihood(
    perplexity=9.5,
    accuracy=0.5,
    per_word=20.0,
    per_character=1.5,
    bits_per_byte=0.6,
    n_tokens=1234,
    n_words=1000,
    n_characters=5000,
    n_bytes=5100,
)


def assessment() -> Assessment:
    measures = TranslationMeasures(scores=SCORES, references=REFERENCES, beams=5, whole=False, n_divided=3, n_unread=1)
    findings = Findings(
        measures=measures,
        by_length=(
            LengthRow(least=1, most=10, n=1500, measures={"bleu": 40.0, "perplexity": None}),
            LengthRow(least=11, most=None, n=2, measures={"bleu": float("nan"), "perplexity": 8.0}),
        ),
        worst=(Worst(place=7, score=1.5, texts=("a\x1b[2J",), output="漢" * 100, expected="c"),),
        worst_by="chrF",
        seconds=2.0,
    )
    return Assessment(model="mine", task=Task.TRANSLATE, files=("a.tsv",), n=1502, n_blank=1, findings=findings)


def test_what_is_printed() -> None:
    lines = printed(assessment()).splitlines()
    assert lines[:6] == [
        "mine on a.tsv: translate",
        "1,502 examples, 1 blank ones left out, 2.0 s, 751.0 a second",
        "",
        "BLEU                     31.25  nrefs:1|case:mixed",
        "BLEU lowercased          33.50  nrefs:1|case:lc",
        "chrF                     55.50  nc:6",
    ]
    assert "perplexity                9.50  a token of the references, of 1,234" in lines
    table = lines.index("words      n   BLEU  perplexity")
    assert lines[table + 1 : table + 3] == ["1–10   1,500  40.00           –", "11+        2    nan        8.00"]
    assert lines[-3] == "  7 (1.5000)     a\\x1b[2J"
    assert lines[-2].endswith("漢…")
    assert lines[-1] == "  expected       c"


def test_results_are_data_that_json_can_hold() -> None:
    found = json.loads(json.dumps(assessment().to_dict(), allow_nan=False))
    assert found["task"] == "translate"
    assert found["findings"]["measures"]["scores"]["bleu_signature"] == "nrefs:1|case:mixed"
    assert found["findings"]["by_length"][1]["measures"] == {"bleu": None, "perplexity": 8.0}
    assert found["per_second"] == 751.0
