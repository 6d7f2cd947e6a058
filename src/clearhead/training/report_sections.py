"""The parts of a report, each from what the run's folder holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from clearhead.data import CleaningReport, Task
from clearhead.errors import ClearheadError
from clearhead.training.report_charts import charts, named, spelled
from clearhead.training.report_contents import RunContents, SampleLine, integer, mapping
from clearhead.training.report_html import Markup, bar, element, join, prose, table
from clearhead.training.run import CONFIG, METRICS, RUN
from clearhead.training.train import SAMPLES, SUMMARY

__all__ = ["cleaning", "curves_and_table", "fault", "samples", "settings"]

_MOST_SAMPLES = 20
_MOST_STAGES = 8
_MOST_ROWS = 200
_Item = TypeVar("_Item")


def curves_and_table(contents: RunContents) -> Iterator[Markup]:
    """The charts, and the evaluations as numbers."""
    yield element("h2", "Curves")
    yield from fault(contents, METRICS)
    drawn = [
        element("figure", Markup(figure.svg), element("figcaption", remark) if remark else None)
        for figure, remark in charts(contents)
    ]
    if drawn:
        yield element("div", *drawn, kind="charts")
    elif METRICS not in contents.faults:
        yield element("p", f"{METRICS} has no numbers yet.", kind="missing")
    found = contents.evaluations
    if found:
        names = list(dict.fromkeys(name for each in found for name in each.metrics))
        rows = (
            [f"{each.step:,}", *(_metric(each.metrics, name) for name in names), "best so far" if each.best else ""]
            for each in _spread(found, _MOST_ROWS)
        )
        numbers = table(["step", *map(named, names), ""], rows)
        yield element("details", element("summary", f"The evaluations in numbers: {len(found)}"), numbers)


def samples(contents: RunContents) -> Iterator[Markup]:
    """What the model writes, and how that came about; vectors cannot be shown."""
    task = contents.summary.get("task") or mapping(contents.run.get("config")).get("task")
    if task == Task.SIMILARITY:
        return
    yield element("h2", "Samples")
    yield from fault(contents, SAMPLES)
    found = contents.samples
    if not found:
        if SAMPLES not in contents.faults:
            yield element("p", f"{SAMPLES} has no samples.", kind="missing")
        return
    steps = {each.step for each in found}
    best = integer(contents.summary.get("best_step"))
    shown = best if best in steps else max(steps)
    yield element("p", f"What the model of step {shown:,} writes for texts that it did not learn from.", kind="faint")
    stages: dict[str, dict[int, SampleLine]] = {}
    for each in found:
        stages.setdefault(each.source, {})[each.step] = each
    last = [each for each in found if each.step == shown]
    for each in last[:_MOST_SAMPLES]:
        yield _sample(each, list(stages[each.source].values()))
    if len(last) > _MOST_SAMPLES:
        yield element("p", f"{len(last) - _MOST_SAMPLES:,} more are in {SAMPLES}.", kind="faint")


def cleaning(contents: RunContents) -> Iterator[Markup]:
    """What of the data was kept, what was dropped and why."""
    yield element("h2", "Cleaning")
    yield from fault(contents, SUMMARY)
    if SUMMARY in contents.faults:
        return
    try:
        report = CleaningReport.from_dict(mapping(contents.summary.get("cleaning")))
    except (ClearheadError, OverflowError):
        yield element("p", f"{SUMMARY} has no cleaning report that can be read.", kind="missing")
        return
    cut = f" {report.truncated:,} of them were cut to length." if report.truncated else ""
    yield element("p", f"{report.kept:,} of {report.read:,} examples were kept.{cut}")
    dropped = sorted(report.dropped.items(), key=lambda entry: -entry[1])[:_MOST_ROWS]
    if not dropped:
        return
    greatest = max(1, dropped[0][1])
    yield table(["dropped because", "examples"], ([name, bar(n / greatest, f"{n:,}")] for name, n in dropped))
    shown = [
        join([element("dt", reason), *(prose(text, name="dd") for text in report.examples[reason] if text)])
        for reason, _ in dropped
        if any(report.examples.get(reason, ()))
    ]
    if shown:
        yield element("details", element("summary", "Some of them"), element("dl", *shown, kind="instances"))


def settings(contents: RunContents) -> Iterator[Markup]:
    """What the run was begun with."""
    yield element("h2", "Settings and data")
    yield from fault(contents, RUN)
    rows = [
        [side, str(file.get("name", "")), _bytes(file.get("size")), str(file.get("sha256", ""))[:16]]
        for side in ("train", "validation")
        for file in _files(mapping(contents.run.get("data")).get(side))
    ]
    if rows:
        yield table(["", "file", "size", "sha256 begins"], rows[:_MOST_ROWS])
    yield from fault(contents, CONFIG)
    if contents.settings:
        yield element("details", element("summary", CONFIG), element("pre", contents.settings))


def fault(contents: RunContents, name: str) -> Iterator[Markup]:
    """A line that says what is wrong with a file, if anything is."""
    if name in contents.faults:
        yield element("p", contents.faults[name], kind="missing")


def _sample(sample: SampleLine, stages: Sequence[SampleLine]) -> Markup:
    parts = [("source", sample.source, "prose"), ("output", sample.output, "prose output")]
    if sample.expected is not None:
        parts.append(("expected", sample.expected, "prose"))
    texts = [join([element("dt", name), prose(text, name="dd", kind=kind)]) for name, text, kind in parts]
    before = [[f"{each.step:,}", prose(each.output)] for each in _spread(stages, _MOST_STAGES)]
    history = element("details", element("summary", "on the way"), table(["step", "output"], before))
    return element("div", element("dl", *texts), history if len(stages) > 1 else None, kind="sample")


def _spread(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """At most so many of them, evenly, the first and the last included."""
    if len(items) <= most:
        return items
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]


def _metric(metrics: Mapping[str, float], name: str) -> str:
    return spelled(name, metrics[name]) if name in metrics else "–"


def _files(side: object) -> Iterator[Mapping[str, Any]]:
    for source in cast("list[object]", side) if isinstance(side, list) else []:
        files = mapping(source).get("files")
        yield from map(mapping, cast("list[object]", files) if isinstance(files, list) else [])


def _bytes(value: object) -> str:
    number = integer(value)
    return "–" if number is None else f"{number:,} bytes"
