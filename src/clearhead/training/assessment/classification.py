"""A classifier's measures: how often it finds the label of a text, and which labels it takes for which."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.metrics import (  # pyright: ignore[reportMissingTypeStubs]
    confusion_matrix,  # pyright: ignore[reportUnknownVariableType]
    precision_recall_fscore_support,  # pyright: ignore[reportUnknownVariableType]
)

from clearhead.config import HeadKind
from clearhead.data import Record
from clearhead.errors import TextError, nearest
from clearhead.tasks import Label, classify
from clearhead.tasks.loaded import Loaded
from clearhead.training.assessment.lengths import by_length, n_words
from clearhead.training.assessment.results import ClassificationMeasures, Findings, LabelMeasures, Worst
from clearhead.training.assessment.settings import AssessmentSettings, Report


def assess_classification(
    loaded: Loaded, records: Mapping[int, Record], *, settings: AssessmentSettings, report: Report
) -> Findings:
    """Labels every text, and measures.

    A model with labels of its own is asked for those; one without is asked for the labels of the file, by meaning.

    Args:
        loaded: The classifier.
        records: Texts with labels, by their place in the file.
        settings: How.
        report: Told how far it is.

    Raises:
        TextError: A label that the model does not know.
    """
    loaded.require("classify")
    places = list(records)
    texts = [record.source for record in records.values()]
    given = [(record.label or "").strip() for record in records.values()]
    has_labels = loaded.config.head.kind is HeadKind.SEQUENCE_CLASSIFICATION
    labels = list(loaded.config.head.labels) if has_labels else sorted(set(given))
    truth = [_known(label, labels, place) for label, place in zip(given, places, strict=True)]
    begun = time.perf_counter()
    found: list[list[Label]] = []
    for first in range(0, len(texts), settings.batch):
        chunk = texts[first : first + settings.batch]
        found += classify(loaded, chunk, labels=None if has_labels else labels, truncate=True)
        report("classifying", len(found), len(texts))
    seconds = time.perf_counter() - begun
    guesses = [ranked[0].label for ranked in found]
    return Findings(
        measures=_measures(truth, guesses, labels, n_cut=n_too_long(loaded, texts)),
        by_length=by_length(
            list(map(n_words, texts)),
            lambda group: {"accuracy": sum(truth[one] == guesses[one] for one in group) / len(group)},
        ),
        worst=_worst(places, texts, truth, found, n=settings.worst),
        worst_by="score of a wrong label, the highest first",
        seconds=seconds,
    )


def n_too_long(loaded: Loaded, texts: Sequence[str]) -> int:
    """How many texts are longer than a model reads."""
    return sum(len(one) > loaded.source_limit for one in loaded.tokenizer.encode_batch(texts, literal=True))


def _known(label: str, labels: Sequence[str], place: int) -> str:
    """The model's own spelling of a label; a file may say the number of a label instead."""
    if label in labels:
        return label
    alike = [known for known in labels if known.casefold() == label.casefold()]
    if len(alike) == 1:
        return alike[0]
    if label.isdecimal() and len(label) < 6 and int(label) < len(labels) and not any(map(str.isdecimal, labels)):
        return labels[int(label)]
    raise TextError(
        "a label that this model does not know",
        got=f"example {place}: {label[:60]!r}",
        expected=", ".join(labels)[:300],
        advice=nearest(label, labels),
    )


def _measures(
    truth: Sequence[str], guesses: Sequence[str], labels: Sequence[str], *, n_cut: int
) -> ClassificationMeasures:
    how: dict[str, Any] = {"zero_division": 0}  # the library's own annotation forgets that numbers are allowed
    each: Any = precision_recall_fscore_support(truth, guesses, labels=list(labels), **how)
    confusion: Any = confusion_matrix(truth, guesses, labels=list(labels))
    rows = [
        LabelMeasures(label=label, precision=float(precision), recall=float(recall), f1=float(f1), n=int(n))
        for label, precision, recall, f1, n in zip(labels, *each, strict=True)
    ]
    # A label that neither side uses is no part of what was measured.
    used = [row for row in rows if row.n or row.label in guesses]
    return ClassificationMeasures(
        accuracy=sum(map(str.__eq__, truth, guesses)) / len(truth),
        macro_f1=sum(row.f1 for row in used) / len(used),
        labels=tuple(rows),
        confusion=tuple(tuple(int(count) for count in row) for row in confusion),
        n_cut=n_cut,
    )


def _worst(
    places: Sequence[int], texts: Sequence[str], truth: Sequence[str], found: Sequence[Sequence[Label]], *, n: int
) -> tuple[Worst, ...]:
    wrong = [one for one, ranked in enumerate(found) if ranked[0].label != truth[one]]
    order = sorted(wrong, key=lambda one: (-found[one][0].score, one))
    return tuple(
        Worst(
            place=places[one],
            score=found[one][0].score,
            texts=(texts[one],),
            output=found[one][0].label,
            expected=truth[one],
        )
        for one in order[:n]
    )
