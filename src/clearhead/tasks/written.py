"""A text that a model wrote, or found, as every task gives it."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.engine import Answer
from clearhead.errors import TextError
from clearhead.tasks.loaded import Loaded
from clearhead.text.words import check_text


@dataclass(frozen=True, kw_only=True)
class Written:
    """One text that a model wrote.

    Attributes:
        text: The text.
        score: The sum of its log-probabilities, divided by the length penalty where there were beams; None unless
            asked for.
        tokens: Its pieces, as the vocabulary spells them, without the end.
        finish: Why it ended: end, stop, length or cancelled.
        log_probabilities: What the model thought of each piece; empty unless asked for.
    """

    text: str
    score: float | None
    tokens: tuple[str, ...]
    finish: str
    log_probabilities: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Span:
    """An answer that stands in a passage.

    Attributes:
        text: The answer.
        score: The probability that it starts where it does, times that it ends where it does; of a whole sentence,
            how near it is to the question.
        start: Its first character in the passage.
        end: The character behind its last.
    """

    text: str
    score: float
    start: int
    end: int


def as_written(loaded: Loaded, answer: Answer) -> Written:
    """What the engine answered, with its pieces."""
    tokenizer, ends = loaded.tokenizer.target, loaded.config.tokens.end
    ids = answer.ids[:-1] if answer.ids and answer.ids[-1] in ends else answer.ids
    return Written(
        text=answer.text,
        score=answer.score,
        tokens=tuple(tokenizer.piece_of(index) for index in ids),
        finish=answer.finish.value,
        log_probabilities=answer.log_probabilities[: len(ids)],
    )


def joined(parts: Sequence[Written], text: str) -> Written:
    """Several texts as one: their scores added, and the reason of the first that did not end by itself."""
    scores = [part.score for part in parts if part.score is not None]
    return Written(
        text=text,
        score=sum(scores) if parts and len(scores) == len(parts) else None,
        tokens=tuple(token for part in parts for token in part.tokens),
        finish=next((part.finish for part in parts if part.finish != "end"), "end"),
        log_probabilities=tuple(value for part in parts for value in part.log_probabilities),
    )


def check_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list.

    Raises:
        TextError: One text where many are needed, or something that is not text.
    """
    if isinstance(texts, str):
        raise TextError("one text where many are needed", got=repr(texts[:60]), advice="a list that holds the text")
    return [check_text(text) for text in texts]
