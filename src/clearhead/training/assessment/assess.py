"""A model and a file: which task that is, and what came of it."""

from collections.abc import Callable, Sequence
from itertools import chain, islice

from clearhead.config import Family, HeadKind
from clearhead.data import Record, Source, Task, read_records
from clearhead.errors import ConfigError, TextError
from clearhead.tasks.loaded import Loaded
from clearhead.training.assessment.results import Assessment, Findings
from clearhead.training.assessment.settings import AssessmentSettings, Report

_HEADS = {
    HeadKind.MASKED_LANGUAGE_MODEL: Task.MASKED_LANGUAGE_MODEL,
    HeadKind.SEQUENCE_CLASSIFICATION: Task.CLASSIFY,
    HeadKind.SENTENCE: Task.SIMILARITY,
    HeadKind.NONE: Task.SIMILARITY,
}
_NEEDED = {
    Task.TRANSLATE: "translate",
    Task.LANGUAGE_MODEL: "complete",
    Task.MASKED_LANGUAGE_MODEL: "fill",
    Task.CLASSIFY: "classify",
    Task.SIMILARITY: "embed",
}


def task_of(loaded: Loaded, asked: Task | None = None) -> Task:
    """The task by which a model is measured: what is asked for, or what the model is made for.

    Raises:
        ConfigError: It cannot do that, or does something that is not measured here.
    """
    family = loaded.config.family
    if asked is None:
        usual = {Family.ENCODER_DECODER: Task.TRANSLATE, Family.DECODER_ONLY: Task.LANGUAGE_MODEL}
        asked = usual.get(family) or _HEADS.get(loaded.config.head.kind)
        if asked is None:
            raise ConfigError(
                "a model whose task is not measured here",
                got=f"{loaded.name or 'a model'} with the head {loaded.config.head.kind.value!r}",
                expected="one that translates, completes, fills, classifies or embeds",
                advice="the task similarity, which measures its vectors",
            )
    writes_alone = asked is not Task.LANGUAGE_MODEL or family is Family.DECODER_ONLY
    if _NEEDED[asked] not in loaded.verbs or not writes_alone:
        raise loaded.cannot(f"be measured by the task {asked}")
    return asked


def assess(
    loaded: Loaded,
    sources: Sequence[Source],
    *,
    settings: AssessmentSettings | None = None,
    limit: int | None = None,
    report: Report = lambda _label, _done, _all: None,
) -> Assessment:
    """How good a model is on files.

    Args:
        loaded: The model.
        sources: The files, all for one task.
        settings: How.
        limit: How many records to read at most; None for all.
        report: Told how far it is.

    Raises:
        ConfigError: A model that cannot do the task of the files.
        TextError: Files that cannot be read, or that hold no example.
    """
    assert sources, "somebody names a file"
    settings = settings or AssessmentSettings()
    task = task_of(loaded, sources[0].task)
    read = islice(chain.from_iterable(map(read_records, sources)), limit)
    records: dict[int, Record] = {}
    n_read, goes_on = 0, False
    for n_read, record in enumerate(read, start=1):
        if goes_on or _has_text(record, task):
            records[n_read] = record
        goes_on = record.continued
    if not records:
        raise TextError(
            "a file without any examples",
            got=", ".join(source.name for source in sources),
            expected="at least one line of text",
        )
    findings = _measure(task)(loaded, records, settings=settings, report=report)
    return Assessment(
        model=loaded.name,
        task=task,
        files=tuple(source.name for source in sources),
        n=sum(row.n for row in findings.by_length),
        n_blank=n_read - len(records),
        findings=findings,
    )


def _measure(task: Task) -> Callable[..., Findings]:
    """What measures a task, imported now: nobody who classifies waits for BLEU."""
    # ruff: noqa: PLC0415
    match task:
        case Task.TRANSLATE:
            from clearhead.training.assessment.translation import assess_translation as measure
        case Task.LANGUAGE_MODEL:
            from clearhead.training.assessment.language import assess_language_model as measure
        case Task.MASKED_LANGUAGE_MODEL:
            from clearhead.training.assessment.masked import assess_masked_language_model as measure
        case Task.CLASSIFY:
            from clearhead.training.assessment.classification import assess_classification as measure
        case Task.SIMILARITY:
            from clearhead.training.assessment.similarity import assess_similarity as measure
    return measure


def _has_text(record: Record, task: Task) -> bool:
    """Whether there is anything to measure; a part of a running text may be white space."""
    if task.reads_running_text:
        return bool(record.source.strip()) or record.continued
    return all(text.strip() for text in (record.source, record.target, record.label) if text is not None)
