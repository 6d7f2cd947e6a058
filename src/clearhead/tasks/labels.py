"""Classification: labels with scores, by a head that was trained for it, or by nearness of meaning."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from clearhead.config import HeadKind
from clearhead.engine import read
from clearhead.errors import ConfigError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import whole_texts
from clearhead.tasks.written import check_texts
from clearhead.tasks.zero_shot import zero_shot


@dataclass(frozen=True, kw_only=True)
class Label:
    """A label of a text, and how sure the model is of it."""

    label: str
    score: float


def classify(
    loaded: Loaded,
    texts: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    hypothesis: str | None = None,
    truncate: bool = False,
) -> list[list[Label]]:
    """Every label of every text with its score, the highest first.

    Without `labels`, a classifying head scores its own: by a softmax, or each by itself where the configuration says
    that several may hold. With `labels`, a text's vector is compared with the vector of each label; a model with a
    head for entailment is asked which of them the text entails. See `zero_shot` for the arithmetic.

    Args:
        loaded: The model.
        texts: The texts.
        labels: Labels to choose from, in words, for a model that was not trained on them.
        hypothesis: A sentence that puts a label into words, with {} where it goes, such as "This text is about {}."
        truncate: Whether the end of a text that is too long is cut off.

    Raises:
        ConfigError: A model that does not classify, or one that needs `labels`.
        TextError: Labels that are none; a text that is too long.
    """
    loaded.require("classify")
    texts = check_texts(texts)
    if labels is not None:
        scores = zero_shot(loaded, texts, labels, hypothesis=hypothesis, truncate=truncate)
        return [_ranked(labels, _numbers(row)) for row in scores]
    if loaded.config.head.kind is not HeadKind.SEQUENCE_CLASSIFICATION:
        raise ConfigError(
            "this model has no labels of its own",
            got=f"{loaded.name or 'a model'} with the head {loaded.config.head.kind.value!r}",
            expected="labels to choose from",
            advice='labels=["sport", "politics"]',
        )
    encodings = whole_texts(loaded, texts, truncate=truncate)
    found: list[list[Label]] = [[] for _ in texts]
    for reading in read(loaded.reader, encodings, pad_id=loaded.config.tokens.pad or 0):
        assert reading.output.logits is not None
        for place, scores in zip(reading.places, _scores(loaded, reading.output.logits), strict=True):
            found[place] = _ranked(loaded.config.head.labels, scores)
    return found


def _scores(loaded: Loaded, logits: Tensor) -> list[list[float]]:
    kind = loaded.checkpoint.foreign.get("problem_type")
    if kind == "regression":
        scores = logits
    elif kind == "multi_label_classification" or logits.shape[1] == 1:
        scores = logits.sigmoid()
    else:
        scores = logits.softmax(-1)
    return [_numbers(row) for row in scores]


def _numbers(row: Tensor) -> list[float]:
    return [float(score) for score in row]


def _ranked(labels: Sequence[str], scores: Sequence[float]) -> list[Label]:
    found = [Label(label=label, score=score) for label, score in zip(labels, scores, strict=True)]
    return sorted(found, key=lambda one: -one.score)
