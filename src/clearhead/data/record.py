"""One example as text, and the tasks that examples are for."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Record", "Task"]


class Task(StrEnum):
    """What a model is trained to do."""

    TRANSLATE = "translate"
    LANGUAGE_MODEL = "language-model"
    MASKED_LANGUAGE_MODEL = "masked-language-model"
    CLASSIFY = "classify"
    SIMILARITY = "similarity"

    @property
    def reads_running_text(self) -> bool:
        """Whether any text will do, and none is too long: it may be cut into parts."""
        return self in (Task.LANGUAGE_MODEL, Task.MASKED_LANGUAGE_MODEL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One example as text.

    Attributes:
        source: The text, or the sentence to translate, or the first of a pair.
        target: The translation, or the second of a pair.
        label: The class of the text.
        score: How similar the pair is, on any scale.
        tag: The target language, where one model writes several.
        continued: Whether the next record goes on with this text, which was cut because of its length.
    """

    source: str
    target: str | None = None
    label: str | None = None
    score: float | None = None
    tag: str | None = None
    continued: bool = False
