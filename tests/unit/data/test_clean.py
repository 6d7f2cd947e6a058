"""Cleaning keeps what is worth learning from, and accounts for the rest."""

import json

import pytest

from clearhead.config import from_dict, to_dict
from clearhead.data import CleaningReport, CleaningRules, Record, Task
from clearhead.data.clean import clean
from clearhead.data.report import N_EXAMPLES
from clearhead.errors import ConfigError, TextError

TRANSLATE = CleaningRules.for_task(Task.TRANSLATE)


def run(records: list[Record], rules: CleaningRules = TRANSLATE) -> tuple[list[Record], CleaningReport]:
    report = CleaningReport()
    return list(clean(records, rules, report)), report


def pair(source: str, target: str) -> Record:
    return Record(source=source, target=target)


def test_a_good_pair_stays_and_loses_the_space_around_it() -> None:
    found, report = run([pair(" Hello. ", "Bonjour.\t")])
    assert found == [pair("Hello.", "Bonjour.")]
    assert (report.kept, report.read, dict(report.dropped)) == (1, 1, {})


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (pair("", "Bonjour."), "empty"),
        (pair("Hello.", " \u3000"), "empty"),
        (Record(source="fine", label=""), "empty"),
        (Record(source=""), "empty"),
        (pair("a" * 1001, "b" * 1001), "too long"),
        (pair("Hi.", "Il fut un temps où tout cela se disait autrement."), "bad ratio"),
        (pair("Il fut un temps où tout cela se disait autrement.", "Hi."), "bad ratio"),
        (pair("Paris", "Paris"), "target copies source"),
    ],
)
def test_a_bad_record_goes(record: Record, reason: str) -> None:
    found, report = run([record])
    assert found == []
    assert dict(report.dropped) == {reason: 1}


def test_short_texts_may_differ_in_length() -> None:
    assert run([pair("Go.", "Va-t'en d'ici !")])[0] != []


def test_duplicates_are_found_whatever_their_spacing() -> None:
    records = [pair("Hello  there.", "Bonjour."), pair("Hello there.", "Bonjour. "), pair("Hello there.", "Salut.")]
    found, report = run(records)
    assert [record.target for record in found] == ["Bonjour.", "Salut."]
    assert report.dropped["duplicate"] == 1
    assert len(run(records, CleaningRules(deduplicate=False))[0]) == 3


def test_the_same_pair_for_two_languages_is_no_duplicate() -> None:
    records = [Record(source="Hello", target="Hallo", tag=tag) for tag in ("de", "nl")]
    assert len(run(records)[0]) == 2


def test_no_text_is_not_the_same_as_an_empty_one() -> None:
    rules = CleaningRules()
    assert len(run([Record(source="a", label="b"), Record(source="a", target="b")], rules)[0]) == 2


def test_language_models_keep_their_space_and_their_length() -> None:
    text = "  indented\n" * 1000
    assert run([Record(source=text)], CleaningRules.for_task(Task.LANGUAGE_MODEL))[0] == [Record(source=text)]


@pytest.mark.parametrize("rules", [CleaningRules.for_task(Task.LANGUAGE_MODEL), CleaningRules(max_characters=1)])
def test_the_parts_of_a_text_that_was_cut_all_stay(rules: CleaningRules) -> None:
    parts = [("same ", True), ("same ", True), (" \n", True), ("same ", True), (" \n", False)]
    records = [Record(source=text, continued=continued) for text, continued in parts]
    lines = [Record(source=" "), Record(source="b"), Record(source="b"), Record(source="a", continued=True)]
    found, report = run([*records, *lines, Record(source=""), Record(source="b")], rules)
    assert found == [*records, lines[1], lines[3], Record(source="")]
    assert dict(report.dropped) == {"empty": 1, "duplicate": 2}


def test_examples_are_few_and_short() -> None:
    _, report = run([pair("x" * 2000, str(number)) for number in range(10)])
    assert report.dropped["too long"] == 10
    assert len(report.examples["too long"]) == N_EXAMPLES
    assert all(len(example) <= 101 for example in report.examples["too long"])


def test_the_report_can_be_read_and_read_back() -> None:
    _, report = run([pair("Hello.", "Bonjour."), pair("Hello.", "Bonjour."), pair("\x1b[31m", "")])
    text = str(report)
    assert text.startswith("kept 1 of 3 examples")
    assert "dropped, duplicate: 1\n    Hello. | Bonjour." in text
    assert "\x1b" not in text
    again = CleaningReport.from_dict(json.loads(json.dumps(report.to_dict())))
    assert again.to_dict() == report.to_dict()
    with pytest.raises(TextError, match="cannot be read"):
        CleaningReport.from_dict({"kept": 1})


def test_rules_are_data_and_checked() -> None:
    assert from_dict(CleaningRules, to_dict(TRANSLATE)) == TRANSLATE
    with pytest.raises(ConfigError, match="max_characters"):
        CleaningRules(max_characters=0)
    with pytest.raises(ConfigError, match="ratio"):
        CleaningRules(min_ratio=2.0, max_ratio=1.0)
