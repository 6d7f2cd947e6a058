"""What an assessment found, as plain data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, cast

from clearhead.data import Task
from clearhead.training.scores import TranslationScores

_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """How likely a model finds texts.

    Attributes:
        perplexity: The exponential of the mean loss of a token; depends on how the tokenizer divides a text.
        accuracy: The share of tokens that the model finds likeliest.
        per_word: The same loss for each word, as white space divides them; models of any tokenizer compare.
        per_character: The same for each character.
        bits_per_byte: The loss in bits for each byte of UTF-8.
        n_tokens: Tokens that were asked for.
        n_words: Words in the texts.
        n_characters: Characters.
        n_bytes: Bytes.
    """

    perplexity: float
    accuracy: float
    per_word: float
    per_character: float
    bits_per_byte: float
    n_tokens: int
    n_words: int
    n_characters: int
    n_bytes: int


@dataclass(frozen=True, kw_only=True)
class TranslationMeasures:
    """How good translations are.

    Attributes:
        scores: BLEU and chrF, with their signatures.
        references: How likely the model finds the references; None where none fits its context.
        beams: Beams of the search.
        whole: Whether segments of several sentences were read at once.
        n_divided: Segments that were translated sentence by sentence.
        n_unread: References that do not fit the model's context, and whose likelihood is not known.
    """

    scores: TranslationScores
    references: Likelihood | None
    beams: int
    whole: bool
    n_divided: int
    n_unread: int


@dataclass(frozen=True, kw_only=True)
class LanguageMeasures:
    """How well a model foresees text.

    Attributes:
        likelihood: Of every token, from those before it.
        window: Tokens that the model looks back over at most.
    """

    likelihood: Likelihood
    window: int


@dataclass(frozen=True, kw_only=True)
class MaskedMeasures:
    """How well a model finds hidden tokens.

    Attributes:
        pseudo_perplexity: The exponential of the mean loss of a hidden token.
        accuracy: The share of hidden tokens that the model finds likeliest.
        n_hidden: Hidden tokens.
        n_tokens: All tokens.
        share: The part of each text that is hidden.
        seed: What chose it.
    """

    pseudo_perplexity: float
    accuracy: float
    n_hidden: int
    n_tokens: int
    share: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class LabelMeasures:
    """How well one label is found: of `n` texts that have it."""

    label: str
    precision: float
    recall: float
    f1: float
    n: int


@dataclass(frozen=True, kw_only=True)
class ClassificationMeasures:
    """How often labels are right.

    Attributes:
        accuracy: The share of texts whose label is found.
        macro_f1: The mean F1 of the labels, each counted alike.
        labels: Each label by itself.
        confusion: How many texts of each label (a row) were given each label (a column), in the order of `labels`.
        n_cut: Texts that were too long, and read without their end.
    """

    accuracy: float
    macro_f1: float
    labels: tuple[LabelMeasures, ...]
    confusion: tuple[tuple[int, ...], ...]
    n_cut: int


@dataclass(frozen=True, kw_only=True)
class SimilarityMeasures:
    """How the cosines of vectors go with people's scores.

    Attributes:
        spearman: The correlation of their ranks.
        pearson: The correlation of their values.
        n_cut: Texts that were too long, and read without their end.
    """

    spearman: float
    pearson: float
    n_cut: int


Measures = TranslationMeasures | LanguageMeasures | MaskedMeasures | ClassificationMeasures | SimilarityMeasures


@dataclass(frozen=True, kw_only=True)
class LengthRow:
    """The measures of examples of like length.

    Attributes:
        least: Words of the shortest.
        most: Words of the longest; None where there is no limit.
        n: How many there are.
        measures: The measures by name; None where they cannot be computed.
    """

    least: int
    most: int | None
    n: int
    measures: Mapping[str, float | None]

    @property
    def words(self) -> str:
        """The lengths, as a table says them."""
        if self.most is None:
            return f"{self.least}+"
        return f"{self.least}" if self.least == self.most else f"{self.least}–{self.most}"


@dataclass(frozen=True, kw_only=True)
class Worst:
    """One of the worst examples.

    Attributes:
        place: Which record of the file it is, counted from 1.
        score: How bad it is, by what the assessment says in `worst_by`.
        texts: What was read.
        output: What the model made of it.
        expected: What was expected.
    """

    place: int
    score: float
    texts: tuple[str, ...]
    output: str | None = None
    expected: str | None = None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What one task's measurement found; see `Assessment` for the rest."""

    measures: Measures
    by_length: tuple[LengthRow, ...]
    worst: tuple[Worst, ...]
    worst_by: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """How good a model is on a file.

    Attributes:
        model: What the model was asked for by.
        task: What it was asked to do.
        files: What it was asked about.
        n: Examples.
        n_blank: Records without text, which are left out.
        findings: What came of it.
    """

    model: str
    task: Task
    files: tuple[str, ...]
    n: int
    n_blank: int
    findings: Findings

    @property
    def per_second(self) -> float:
        """Examples a second, the reading of references not counted."""
        return self.n / max(self.findings.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """All of it as data that JSON can hold; a number that is none is None."""
        return {**_plain(self), "per_second": self.per_second}


def exponential(loss: float) -> float:
    """The perplexity of a mean loss, large but never too large to say."""
    return math.exp(min(loss, _LARGEST_EXPONENT))


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value
