"""Classifiers and sentence encoders: numbers beside scikit-learn's and scipy's on the same outputs."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, recall_score

from clearhead import tasks
from clearhead.config import HeadKind
from clearhead.data import Source, Task
from clearhead.errors import ConfigError, TextError
from clearhead.training.assessment import Assessment, AssessmentSettings, assess, task_of
from clearhead.training.assessment.results import ClassificationMeasures, SimilarityMeasures

from .specimens import LABELS, classifier, embedder, filler, loaded, translator, writer

TEXTS = ["A dog.", "nice", "The plot is thin!", "x y z", "??", "Ça va", "so so", "never again", "1 2 3", "lovely film"]
TRUTH = ["good", "good", "bad", "mixed", "bad", "good", "mixed", "bad", "mixed", "good"]
OTHERS = ["A cat.", "awful", "A thin plot", "q", "!!", "Tout va bien", "fine", "once more", "4 5 6", "a lovely film"]
SCORES = [3.0, 0.5, 4.8, 1.0, 2.2, 4.0, 3.3, 1.5, 2.5, 5.0]


def source(folder: Path, rows: list[tuple[object, ...]], task: Task) -> list[Source]:
    path = folder / "test.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return [Source(paths=(path,), task=task)]


def classified(folder: Path, labels: list[str] = TRUTH) -> Assessment:
    rows = list(zip(TEXTS, labels, strict=True))
    return assess(classifier(), source(folder, rows, Task.CLASSIFY), settings=AssessmentSettings(batch=3))


def test_a_classifier_is_measured_as_scikit_learn_measures(tmp_path: Path) -> None:
    found = classified(tmp_path)
    guesses = [ranked[0].label for ranked in tasks.classify(classifier(), TEXTS)]
    measures = found.findings.measures
    assert isinstance(measures, ClassificationMeasures)
    assert measures.accuracy == accuracy_score(TRUTH, guesses)
    assert measures.macro_f1 == pytest.approx(f1_score(TRUTH, guesses, average="macro", zero_division=0))
    recalls = recall_score(TRUTH, guesses, average=None, labels=list(LABELS), zero_division=0)
    assert [each.recall for each in measures.labels] == list(recalls)
    assert [each.n for each in measures.labels] == [TRUTH.count(label) for label in LABELS]
    assert np.array_equal(measures.confusion, confusion_matrix(TRUTH, guesses, labels=list(LABELS)))
    assert sum(row.n * (row.measures["accuracy"] or 0) for row in found.findings.by_length) == pytest.approx(
        measures.accuracy * len(TEXTS)
    )


def test_the_worst_are_wrong_and_sure(tmp_path: Path) -> None:
    worst = classified(tmp_path).findings.worst
    ranked = tasks.classify(classifier(), TEXTS)
    wrong = {place: each[0].score for place, each in enumerate(ranked) if each[0].label != TRUTH[place]}
    expected = sorted(wrong, key=lambda place: -wrong[place])[:5]
    assert [one.place - 1 for one in worst] == expected
    assert all(one.output != one.expected for one in worst)


def test_a_label_may_be_a_number_or_spelt_otherwise(tmp_path: Path) -> None:
    numbers = [str(LABELS.index(label)) for label in TRUTH]
    assert classified(tmp_path, numbers).findings.measures == classified(tmp_path).findings.measures
    shouted = [label.upper() for label in TRUTH]
    assert classified(tmp_path, shouted).findings.measures == classified(tmp_path).findings.measures


@pytest.mark.parametrize("label", ["goood", "3", "-1"])
def test_an_unknown_label_is_refused_by_its_place(label: str, tmp_path: Path) -> None:
    with pytest.raises(TextError, match="does not know") as caught:
        classified(tmp_path, [*TRUTH[:4], label, *TRUTH[5:]])
    assert f"example 5: '{label}'" in str(caught.value)


def test_a_long_text_is_cut_and_counted(tmp_path: Path) -> None:
    found = assess(classifier(), source(tmp_path, [("word " * 50, "good"), ("b", "bad")], Task.CLASSIFY))
    assert isinstance(found.findings.measures, ClassificationMeasures)
    assert found.findings.measures.n_cut == 1


def test_a_model_without_labels_chooses_among_those_of_the_file(tmp_path: Path) -> None:
    found = assess(embedder(), source(tmp_path, list(zip(TEXTS, TRUTH, strict=True)), Task.CLASSIFY))
    ranked = tasks.classify(embedder(), TEXTS, labels=sorted(LABELS))
    assert isinstance(found.findings.measures, ClassificationMeasures)
    right = [each[0].label == label for each, label in zip(ranked, TRUTH, strict=True)]
    assert found.findings.measures.accuracy == sum(right) / len(TRUTH)


def compared(folder: Path, scores: list[object]) -> Assessment:
    rows = list(zip(TEXTS, OTHERS, scores, strict=True))
    return assess(embedder(), source(folder, rows, Task.SIMILARITY), settings=AssessmentSettings(batch=4, worst=3))


def test_a_sentence_encoder_is_measured_as_scipy_measures(tmp_path: Path) -> None:
    found = compared(tmp_path, list(SCORES))
    cosines = (tasks.embed(embedder(), TEXTS) * tasks.embed(embedder(), OTHERS)).sum(1)
    measures = found.findings.measures
    assert isinstance(measures, SimilarityMeasures)
    assert measures.spearman == pytest.approx(spearmanr(cosines, SCORES).statistic, abs=1e-6)
    assert measures.pearson == pytest.approx(pearsonr(cosines, SCORES).statistic, abs=1e-5)
    gaps = np.abs(cosines.argsort().argsort() - np.argsort(np.argsort(SCORES))) / len(SCORES)
    assert [one.score for one in found.findings.worst] == pytest.approx(sorted(gaps, reverse=True)[:3])


def test_scores_that_cannot_be_compared_with(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="too few different scores"):
        compared(tmp_path, [1.0] * len(TEXTS))
    with pytest.raises(TextError, match="pairs without scores"):
        assess(embedder(), source(tmp_path, list(zip(TEXTS, OTHERS, strict=True)), Task.SIMILARITY))


def test_the_task_follows_from_the_model() -> None:
    models = {
        Task.TRANSLATE: translator(),
        Task.LANGUAGE_MODEL: writer(),
        Task.MASKED_LANGUAGE_MODEL: filler(),
        Task.CLASSIFY: classifier(),
        Task.SIMILARITY: embedder(),
    }
    assert {task: task_of(model) for task, model in models.items()} == {task: task for task in models}
    assert task_of(filler(), Task.SIMILARITY) is Task.SIMILARITY
    with pytest.raises(ConfigError, match="language-model"):
        task_of(translator(), Task.LANGUAGE_MODEL)
    with pytest.raises(ConfigError, match="not measured here"):
        task_of(loaded("bert", HeadKind.QUESTION_ANSWERING))
