"""From files to token stores, in two passes that hold nothing but hashes.

Takes: sources, a tokenizer, a recipe.
Gives: a folder with a store to train on, a store to measure by, and an account of what was done.
Uses:  config, errors, text, every other part of this room.
Never: the same source sentence in both stores.

    1  look     read and clean everything; count, collect labels and languages, decide what to hold out
    2  write    read and clean it again; encode, and write each record to its side
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from clearhead.config.checks import require_size, require_types
from clearhead.config.record import RECORD
from clearhead.data.clean import CleaningRules, clean
from clearhead.data.encode import Prefix, RecordEncoder
from clearhead.data.prepared import FILE_NAME, TRAIN, VALIDATION, Prepared
from clearhead.data.record import Record, Task
from clearhead.data.record_writer import RecordWriter, Routed, Teacher
from clearhead.data.report import CleaningReport
from clearhead.data.routing import Held, Route
from clearhead.data.source import Source, fingerprint, read_records
from clearhead.data.split import Split
from clearhead.data.store import TokenStore
from clearhead.data.store_writer import StoreWriter, writing
from clearhead.data.survey import Survey
from clearhead.errors import ConfigError, TextError
from clearhead.text.tokenizer import Tokenizer

__all__ = ["Recipe", "cleaned_records", "prepare"]

LEAST_RECORDS = 10


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How data is prepared.

    Attributes:
        task: What the model will do.
        max_length: The most ids of a row; language models have no such limit.
        rules: What a record must be to stay; None for what suits the task.
        split: What is held out where there are no validation files.
    """

    __pydantic_config__ = RECORD

    task: Task
    max_length: int = 256
    rules: CleaningRules | None = None
    split: Split = field(default_factory=Split)

    def __post_init__(self) -> None:
        require_types(self)
        require_size("max_length", self.max_length)
        if self.split.tail and not self.task.reads_running_text:
            raise ConfigError(
                "the last part of all text where examples are held out one by one",
                got=f"split.tail for the task {self.task}",
                expected="a task that reads running text",
                advice="split.tail=false, or files to measure by",
            )


def cleaned_records(sources: Sequence[Source], recipe: Recipe) -> Iterator[Record]:
    """The records of all sources as `prepare` sees them: what a tokenizer learns from."""
    return (record for _, record in _cleaned(sources, recipe, CleaningReport()))


def prepare(
    sources: Sequence[Source],
    *,
    folder: Path,
    tokenizer: Tokenizer,
    recipe: Recipe,
    validation: Sequence[Source] = (),
    teacher: Teacher | None = None,
    prefix: Prefix | None = None,
    progress: Callable[[int], None] | None = None,
) -> Prepared:
    """Write token stores for training and validation.

    Args:
        sources: Where the records come from.
        folder: Where the stores go: `train`, `validation` and an account of them.
        tokenizer: What reads the records.
        recipe: How.
        validation: Files to measure by; their sources are dropped from the training data. Without them a part of the
            training data is held out.
        teacher: What gives each source's vector, for a student to learn from.
        prefix: What gives the words that tell a translator its target language, where it was taught to read such.
        progress: Told now and then how many records have been written.
    """
    _check_tasks([*sources, *validation], recipe)
    fingerprints = tuple(fingerprint(source) for source in (*sources, *validation))
    survey = Survey(task=recipe.task, split=recipe.split)
    held = _look(sources, validation, recipe, survey)
    encoder = _encoder(tokenizer, recipe, survey, prefix)
    writer = RecordWriter(encoder=encoder, labels=survey.labels, teacher=teacher, progress=progress)
    report, validation_report = CleaningReport(), CleaningReport()
    (folder / FILE_NAME).unlink(missing_ok=True)
    with _two_stores(folder, fields=encoder.fields, values=_values(survey, teacher)) as (train, measured):
        pairs = _cleaned(validation, recipe, validation_report)
        routed = (Routed(record=record, origin=origin, store=measured) for origin, record in pairs)
        writer.write(routed, validation_report)
        share = 0.0 if validation else survey.share()
        route = Route(task=recipe.task, held=held, split=recipe.split, share=share, n_characters=survey.n_characters)
        if share and recipe.task is Task.SIMILARITY:
            _hold(route, sources, recipe)
        writer.write(route(_cleaned(sources, recipe, report), (train, measured), report), report)
        _check_side(train, report, "train on")
        _check_side(measured, validation_report if validation else report, "validate with")
    prepared = Prepared(
        task=recipe.task,
        train=TokenStore(folder=folder / TRAIN),
        validation=TokenStore(folder=folder / VALIDATION),
        report=report,
        validation_report=validation_report,
        labels=survey.labels,
        tags=survey.tags,
        weights=tuple(float(source.weight) for source in sources),
        fingerprints=fingerprints,
    )
    prepared.save()
    return prepared


def _look(sources: Sequence[Source], validation: Sequence[Source], recipe: Recipe, survey: Survey) -> Held:
    """Let everything pass the survey once; the sources of the validation files."""
    held = Held(task=recipe.task)
    for _, record in _cleaned(validation, recipe, CleaningReport()):
        held.add(record)
        survey.see(record)
    report = CleaningReport()
    for _, record in _cleaned(sources, recipe, report):
        survey.see(record)
    least = 2 if recipe.task.reads_running_text else LEAST_RECORDS
    if report.kept < least:
        raise TextError(
            "too few examples to learn from",
            got=f"{', '.join(source.name for source in sources)}: {report.counts}",
            expected=f"at least {least} that differ",
            advice="more data, or check that the right columns were read",
        )
    return held


def _hold(route: Route, sources: Sequence[Source], recipe: Recipe) -> None:
    """Let everything pass once more, to know the texts of the pairs that are held out: no other may have them."""
    for _, record in _cleaned(sources, recipe, CleaningReport()):
        if route.holds_out(record):
            route.held.add(record)


@contextmanager
def _two_stores(
    folder: Path, *, fields: Mapping[str, int], values: Mapping[str, int]
) -> Generator[tuple[StoreWriter, StoreWriter], None, None]:
    """The stores to train on and to measure by; where the block fails, what was there before stays."""
    with (
        writing(folder / TRAIN, fields=fields, values=values) as train,
        writing(folder / VALIDATION, fields=fields, values=values) as measured,
    ):
        yield train, measured


def _cleaned(sources: Sequence[Source], recipe: Recipe, report: CleaningReport) -> Iterator[tuple[int, Record]]:
    """The records that stay, each with the number of its source; a duplicate may come from another source."""
    origin = 0

    def read() -> Iterator[Record]:
        nonlocal origin
        for origin, source in enumerate(sources):  # noqa: B007  (read below: one record passes at a time)
            yield from read_records(source)

    rules = recipe.rules or CleaningRules.for_task(recipe.task)
    return ((origin, record) for record in clean(read(), rules, report))


def _encoder(tokenizer: Tokenizer, recipe: Recipe, survey: Survey, prefix: Prefix | None) -> RecordEncoder:
    return RecordEncoder(
        task=recipe.task,
        tokenizer=tokenizer,
        max_length=recipe.max_length,
        tags=survey.tags,
        paired=recipe.task is Task.TRANSLATE or survey.has("target"),
        prefix=prefix,
    )


def _values(survey: Survey, teacher: Teacher | None) -> dict[str, int]:
    """The columns of numbers that the stores need."""
    values = {"origin": 1}
    if survey.labels:
        values["label"] = 1
    if survey.has("score"):
        values["score"] = 1
    if teacher is None:
        survey.require_scores_that_differ()
    else:
        values["teacher"] = teacher(["a"]).shape[1]
    return values


def _check_tasks(sources: Sequence[Source], recipe: Recipe) -> None:
    if not sources:
        raise ConfigError("no data", expected="at least one source")
    for source in sources:
        if source.task is not recipe.task:
            raise ConfigError("a source for another task", got=f"{source.name}: {source.task}", expected=recipe.task)


def _check_side(side: StoreWriter, report: CleaningReport, purpose: str) -> None:
    if side.n_records == 0:
        raise TextError(
            f"nothing left to {purpose}",
            got=report.counts,
            expected="at least one example with a source of its own",
            advice="more data, or a larger max_length where examples have too many tokens",
        )
