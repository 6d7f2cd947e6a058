"""The report of a run: one page that needs nothing else, from what the run's folder holds.

Takes: a run's folder, finished or not.
Gives: report.html in it: curves, samples, quality by length, cleaning, settings.
Uses:  figures, training.report_*.
Never: a script, a link to elsewhere, or text from a file that is not escaped.
"""

from collections.abc import Iterator
from pathlib import Path

from clearhead.errors import TextError, TrainingError
from clearhead.text.files import replacing
from clearhead.training.outcome import Outcome
from clearhead.training.progress import spell_seconds
from clearhead.training.report_charts import named, spelled
from clearhead.training.report_contents import RunContents, integer, mapping, read_contents, real
from clearhead.training.report_html import Markup, element, page
from clearhead.training.report_quality import quality_by_length
from clearhead.training.report_sections import cleaning, curves_and_table, samples, settings
from clearhead.training.run import CONFIG, METRICS, RUN
from clearhead.training.state import Status
from clearhead.training.train import SUMMARY

__all__ = ["REPORT", "write_report"]

REPORT = "report.html"
_MOST_CARDS = 12
_MOST_LETTERS = 40


def write_report(folder: Path) -> Path:
    """Writes the report of the run in a folder, and gives its path; what cannot be read is left out and said.

    Raises:
        TrainingError: The folder holds no run, or cannot be written.
    """
    if not any((folder / name).exists() for name in (RUN, METRICS, SUMMARY, CONFIG)):
        raise TrainingError(
            "a folder that holds no run",
            got=folder,
            expected=f"{RUN}, {METRICS} or {SUMMARY} in it",
            advice="the --out of clearhead train",
        )
    contents = read_contents(folder)
    sections = (_head, curves_and_table, samples, quality_by_length, cleaning, settings)
    body = [part for section in sections for part in section(contents)]
    written = page(f"{contents.name}: report of a training run", *body)
    path = folder / REPORT
    try:
        with replacing(path) as stream:
            stream.write(written.encode("utf-8"))
    except TextError as error:
        raise TrainingError("the report cannot be written", got=error.got) from None
    return path


def _head(contents: RunContents) -> Iterator[Markup]:
    """How the run ended, in a sentence and in a few numbers."""
    yield element("h1", contents.name, attributes={"dir": "auto"})
    yield element("p", _sentence(contents), kind="lead")
    numbers = {name: real(value) for name, value in mapping(contents.summary.get("metrics")).items()}
    if not numbers:
        best = [each for each in contents.evaluations if each.best]
        numbers = dict(best[-1].metrics) if best else {}
    measured = [(named(name), spelled(name, value)) for name, value in numbers.items() if value is not None]
    yield from _cards(measured[:_MOST_CARDS], kind="cards")
    yield from _cards(list(_facts(contents)), kind="cards facts")


def _cards(facts: list[tuple[str, str]], *, kind: str) -> Iterator[Markup]:
    if facts:
        cards = (element("div", element("dt", name), element("dd", value), kind="card") for name, value in facts)
        yield element("dl", *cards, kind=kind)


def _sentence(contents: RunContents) -> str:
    summary = contents.summary
    step, seconds = integer(summary.get("steps")), real(summary.get("seconds"))
    status = next((each for each in Status if each == summary.get("status")), None)
    if status is None or step is None:
        reached = [*(point[-1][0] for point in contents.training.values()), *(e.step for e in contents.evaluations)]
        return f"This run has not finished: {int(max(reached, default=0)):,} steps so far."
    outcome = Outcome(
        status=status,
        step=step,
        elapsed=seconds or 0.0,
        folder=Path(),
        best_step=integer(summary.get("best_step")),
        metrics={},
    )
    took = f" It took {spell_seconds(seconds)}." if seconds is not None else ""
    return f"This run {outcome}.{took}" if status is Status.COMPLETED else f"{str(outcome).capitalize()}.{took}"


def _facts(contents: RunContents) -> Iterator[tuple[str, str]]:
    """What else there is to know about the run, as far as it is known."""
    summary, run = contents.summary, contents.run
    examples, padding = mapping(summary.get("examples")), real(summary.get("padding"))
    counts = (
        ("weights kept", "of step ", summary.get("best_step"), ""),
        ("parameters", "", summary.get("parameters"), ""),
        ("vocabulary", "", summary.get("vocabulary"), " pieces"),
        ("learnt from", "", examples.get("train"), " examples"),
        ("measured by", "", examples.get("validation"), " examples"),
        ("threads", "", run.get("threads"), ""),
    )
    versions = (("task", summary.get("task")), ("clearhead", run.get("clearhead")), ("torch", run.get("torch")))
    yield from ((name, text[:_MOST_LETTERS]) for name, text in versions if isinstance(text, str))
    for name, before, value, after in counts:
        count = integer(value)
        if count is not None:
            yield name, f"{before}{count:,}{after}"
    if padding is not None:
        yield "padding", f"{padding:.1%}"
