"""The shapes of tasks: LibreTranslate's for translation, our own for the rest."""

from typing import Annotated, Literal

from pydantic import Field

from clearhead.web.api.bounds import MOST_FOUND, MOST_LABELS, MOST_TEXTS
from clearhead.web.api.shape import Asked, Decoding, Given, Language, Name, Some, Text, Texts

_LIKE = "A text or several; the answer has one result for each."


class _ForTexts(Asked):
    """Texts for a model."""

    text: Text | Texts = Field(description=_LIKE)
    model: Name | None = Field(default=None, description="By default the one that is made for this task.")


class TranslateForm(Asked):
    """Texts to translate, as LibreTranslate's clients send them."""

    q: Text | Texts
    source: Language = Field(default="auto", description="A code or English name; auto for what the model reads.")
    target: Language
    format: Literal["text"] = "text"
    alternatives: Annotated[int, Field(ge=0, le=4)] = 0
    api_key: Annotated[str, Field(max_length=512)] | None = Field(
        default=None, description="A token, where the server asks for one and no header carries it."
    )
    model: Name | None = None


class TranslateAsked(TranslateForm):
    """The same in JSON; `model` and `decoding` are ours."""

    decoding: Decoding = Field(default_factory=Decoding)


class Translated(Given):
    """Translations, in the form that the request had."""

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None


class SpokenLanguage(Given):
    """A language that texts may be in, and those that they can be translated into."""

    code: str
    name: str
    targets: list[str]


class SummarizeAsked(_ForTexts):
    """Texts to say more shortly."""

    sentences: Annotated[int, Field(ge=1, le=50)] | None = Field(
        default=None, description="How many sentences to pick, for a model that picks and does not write."
    )
    decoding: Decoding = Field(default_factory=Decoding)


class Summaries(Given):
    """A summary for each text."""

    model: str
    results: list[str]


class AnswerAsked(Asked):
    """A question, and where to look for its answer."""

    question: Some
    passage: Some | None = None
    n: Annotated[int, Field(ge=1, le=20)] = 1
    longest: Annotated[int, Field(ge=1, le=200)] | None = Field(
        default=None, description="Tokens of an answer, for a model that finds spans."
    )
    model: Name | None = None
    decoding: Decoding = Field(default_factory=Decoding)


class FoundAnswer(Given):
    """An answer; where it stands in the passage, if it was found there."""

    text: str
    score: float | None
    start: int | None = None
    end: int | None = None


class Answers(Given):
    """Answers, the best first."""

    model: str
    answers: list[FoundAnswer]


class ClassifyAsked(_ForTexts):
    """Texts to label."""

    labels: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=500)]], Field(max_length=MOST_LABELS)] | None
    ) = Field(default=None, min_length=1, description="Labels of your own, in words.")
    hypothesis: Annotated[str, Field(max_length=500)] | None = Field(
        default=None, description="A sentence that puts a label into words, with {} where it goes."
    )
    truncate: bool = False


class ScoredLabel(Given):
    """A label, and how sure the model is of it."""

    label: str
    score: float


class Classified(Given):
    """For each text its labels, the highest first."""

    model: str
    results: list[list[ScoredLabel]]


class FillAsked(_ForTexts):
    """Texts with gaps: [MASK], <mask> or ___."""

    n: Annotated[int, Field(ge=1, le=MOST_FOUND)] = 5
    truncate: bool = False


class FilledGap(Given):
    """A word for a gap."""

    token: str
    token_id: int
    score: float
    text: str


class Filled(Given):
    """For each text, for each gap, the likeliest words."""

    model: str
    results: list[list[list[FilledGap]]]


class SearchAsked(Asked):
    """What to look for, and the texts to look in; without texts, in the index that the server was given."""

    query: Some
    texts: Annotated[list[Some], Field(min_length=1, max_length=MOST_TEXTS)] | None = None
    n: Annotated[int, Field(ge=1, le=MOST_FOUND)] = 10
    truncate: bool = False
    model: Name | None = None


class FoundText(Given):
    """A text that was found; where it stood among those that were given, or in which file of the index."""

    text: str
    score: float
    place: int | None = None
    path: str | None = None
    line: int | None = None


class Found(Given):
    """Texts, the nearest first."""

    model: str
    results: list[FoundText]
