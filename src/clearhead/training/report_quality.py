"""What was measured after a run: quality by sentence length, and everything else in numbers.

Takes: evaluation.json, as `clearhead evaluate` writes it, or the same without its outer layers.
Gives: a table with bars, and one without.
Uses:  training.report_*.
Never: trusts a field to be there, or to be what it should.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from clearhead.data import Task
from clearhead.training.report_charts import named, spelled
from clearhead.training.report_contents import EVALUATION, RunContents, integer, mapping, real
from clearhead.training.report_html import Markup, bar, element, prose, table
from clearhead.training.report_sections import fault

__all__ = ["quality_by_length"]

_MOST_ROWS = 200
_MOST_MEASURES = 6
_MOST_LEVELS = 4
_LAYERS = ("findings", "measures", "scores")
_BOUNDS = frozenset({"from", "to", "least", "most", "n", "measures"})


@dataclass(frozen=True, kw_only=True)
class _Row:
    """The measures of sentences of like length."""

    least: int
    most: int | None
    n: int | None
    measures: Mapping[str, float]


def quality_by_length(contents: RunContents) -> Iterator[Markup]:
    """How good it is for short and for long sentences, where that was measured."""
    task = contents.summary.get("task") or mapping(contents.run.get("config")).get("task")
    if EVALUATION in contents.absent and task != Task.TRANSLATE:
        return
    yield element("h2", "Quality by sentence length")
    yield from fault(contents, EVALUATION)
    rows = list(_rows(contents.later))
    names = list(dict.fromkeys(name for row in rows for name in row.measures))[:_MOST_MEASURES]
    if names:
        greatest = {name: max(abs(row.measures.get(name, 0.0)) for row in rows) for name in names}
        cells = ([_range(row), _count(row.n), *(_measure(row, name, greatest[name]) for name in names)] for row in rows)
        yield table(["words", "sentences", *map(named, names)], cells)
    elif EVALUATION not in contents.faults:
        yield element("p", f"{EVALUATION} does not say how quality depends on length.", kind="missing")
    facts = list(_facts(contents.later, ""))[:_MOST_ROWS]
    if facts:
        yield element("details", element("summary", "All that was measured"), table(["", ""], facts))


def _rows(later: Mapping[str, Any]) -> Iterator[_Row]:
    found = later.get("by_length") or mapping(later.get("findings")).get("by_length")
    for each in cast("list[object]", found)[:_MOST_ROWS] if isinstance(found, list) else []:
        row = mapping(each)
        numbers = {name: real(value) for name, value in row.items() if name not in _BOUNDS}
        numbers |= {name: real(value) for name, value in mapping(row.get("measures")).items()}
        measures = {name: value for name, value in numbers.items() if value is not None}
        least = integer(row.get("from", row.get("least")))
        if least is not None and measures:
            most = integer(row.get("to", row.get("most")))
            yield _Row(least=least, most=most, n=integer(row.get("n")), measures=measures)


def _facts(data: Mapping[str, Any], name: str) -> Iterator[list[str]]:
    """Every number and text of nested objects, named by where it is; lists are left to the file."""
    for key, value in data.items():
        path = name if key in _LAYERS else f"{name}, {named(key)}".removeprefix(", ")
        number = real(value)
        if isinstance(value, dict) and name.count(",") < _MOST_LEVELS:
            yield from _facts(cast("dict[str, Any]", value), path)
        elif number is not None:
            yield [path, spelled(key, number)]
        elif isinstance(value, str):
            yield [path, prose(value)]


def _range(row: _Row) -> str:
    if row.most is None:
        return f"{row.least:,} and more"
    return f"{row.least:,}" if row.least == row.most else f"{row.least:,}–{row.most:,}"


def _count(n: int | None) -> str:
    return "–" if n is None else f"{n:,}"


def _measure(row: _Row, name: str, greatest: float) -> str:
    value = row.measures.get(name)
    return "–" if value is None else bar(abs(value) / greatest if greatest else 0.0, spelled(name, value))
