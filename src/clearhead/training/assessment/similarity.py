"""A sentence encoder's measures: whether vectors are as near each other as people say that sentences are."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float64
from scipy.stats import pearsonr, rankdata, spearmanr  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from clearhead.data import Record
from clearhead.errors import TextError
from clearhead.tasks import embed
from clearhead.tasks.loaded import Loaded
from clearhead.training.assessment.classification import n_too_long
from clearhead.training.assessment.lengths import by_length, n_words
from clearhead.training.assessment.results import Findings, SimilarityMeasures, Worst
from clearhead.training.assessment.settings import AssessmentSettings, Report

_LEAST_PAIRS = 3


def assess_similarity(
    loaded: Loaded, records: Mapping[int, Record], *, settings: AssessmentSettings, report: Report
) -> Findings:
    """Embeds both sentences of every pair, and compares cosines with scores.

    Args:
        loaded: A model that embeds.
        records: Pairs with scores, by their place in the file.
        settings: How.
        report: Told how far it is.

    Raises:
        TextError: Pairs without scores, or with scores that are all alike.
    """
    loaded.require("embed")
    places = list(records)
    pairs = [(record.source, record.target or "") for record in records.values()]
    scores = _scores(records)
    begun = time.perf_counter()
    cosines = _cosines(loaded, pairs, settings=settings, report=report)
    seconds = time.perf_counter() - begun
    spearman, pearson = _correlations(cosines, scores)
    if spearman is None or pearson is None:
        raise TextError("vectors that are all alike", got=f"{len(pairs)} cosines of {cosines[0]:.4f}")
    gaps = np.abs(_ranks(cosines) - _ranks(scores)) / len(pairs)
    order = sorted(range(len(pairs)), key=lambda one: (-gaps[one], one))[: settings.worst]
    return Findings(
        measures=SimilarityMeasures(
            spearman=spearman,
            pearson=pearson,
            n_cut=n_too_long(loaded, [text for pair in pairs for text in pair]),
        ),
        by_length=by_length(
            [max(map(n_words, pair)) for pair in pairs],
            lambda group: {"spearman": _correlations(cosines[group], scores[group])[0]},
        ),
        worst=tuple(
            Worst(
                place=places[one],
                score=float(gaps[one]),
                texts=pairs[one],
                output=f"cosine {cosines[one]:.3f}",
                expected=f"score {scores[one]:g}",
            )
            for one in order
        ),
        worst_by="difference of the ranks of cosine and score, as a share of all pairs, the largest first",
        seconds=seconds,
    )


def _scores(records: Mapping[int, Record]) -> Float64[np.ndarray, " B"]:
    missing = next((place for place, record in records.items() if record.score is None), None)
    if missing is not None:
        raise TextError(
            "pairs without scores",
            got=f"example {missing}",
            expected="two sentences and a number that says how alike they are",
            advice="name the columns: sentence1, sentence2, score",
        )
    scores = np.array([record.score for record in records.values()], np.float64)
    if len(scores) < _LEAST_PAIRS or bool((scores == scores[0]).all()):
        raise TextError(
            "too few different scores to compare with",
            got=f"{len(scores)} pairs, {len(set(scores.tolist()))} scores",
            expected=f"at least {_LEAST_PAIRS} pairs, and not all of one score",
        )
    return scores


def _cosines(
    loaded: Loaded, pairs: list[tuple[str, str]], *, settings: AssessmentSettings, report: Report
) -> Float64[np.ndarray, " B"]:
    found: list[float] = []
    for first in range(0, len(pairs), settings.batch):
        chunk = pairs[first : first + settings.batch]
        vectors_BD = embed(loaded, [text for pair in chunk for text in pair], truncate=True).astype(np.float64)
        one_BD, other_BD = vectors_BD[::2], vectors_BD[1::2]
        lengths_B = np.linalg.norm(one_BD, axis=1) * np.linalg.norm(other_BD, axis=1)
        found += ((one_BD * other_BD).sum(1) / np.maximum(lengths_B, np.finfo(np.float64).tiny)).tolist()
        report("embedding", len(found), len(pairs))
    return np.array(found, np.float64)


def _correlations(
    cosines_B: Float64[np.ndarray, " B"], scores_B: Float64[np.ndarray, " B"]
) -> tuple[float | None, float | None]:
    """Spearman's and Pearson's correlation; None where there is nothing to correlate."""
    if len(scores_B) < _LEAST_PAIRS or any(bool((each == each[0]).all()) for each in (cosines_B, scores_B)):
        return None, None
    spearman: Any = spearmanr(cosines_B, scores_B)
    pearson: Any = pearsonr(cosines_B, scores_B)
    return float(spearman.statistic), float(pearson.statistic)


def _ranks(values_B: Float64[np.ndarray, " B"]) -> Float64[np.ndarray, " B"]:
    return np.asarray(rankdata(values_B), np.float64)
