"""What nearness of meaning does by itself: the sentences that stand for a text, and those that answer a question.

Nothing is written here: every word of a result stands in the text that was given.

    summary   again and again the sentence that is most like the whole and least like those taken already
              argmax  λ cos(sentence, mean) - (1 - λ) max cos(sentence, taken)        (Carbonell and Goldstein 1998)
    answer    (cos(question, passage) + cos(question, sentence)) / 2, for every sentence of every passage
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from clearhead.errors import TextError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.vectors import embed
from clearhead.tasks.written import Span, Written
from clearhead.text.sentences import split_sentences

_LIKENESS = 0.7
"""λ: how much being like the whole counts beside being unlike what is taken."""
_SHARE = 3
_MOST_BY_DEFAULT = 5
_PASSAGE = 4
"""Sentences that are read together when an answer is looked for; passages overlap by half."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence and where it stands in its text."""

    text: str
    start: int
    end: int


def summary_sentences(loaded: Loaded, text: str, *, n: int | None = None) -> Written:
    """The sentences that stand for a text, in their order.

    Args:
        loaded: A model that embeds.
        text: The text; white space alone stays as it is.
        n: How many sentences; by default a third of them, five at most.
    """
    if n is not None and n < 1:
        raise TextError("a summary without a sentence", got=n, expected="1 or more")
    found = sentences_of(text)
    if not found:
        return Written(text=text, score=None, tokens=(), finish="end")
    n = min(_MOST_BY_DEFAULT, -(-len(found) // _SHARE)) if n is None else n
    places = range(len(found)) if n >= len(found) else _chosen(_units(loaded, [one.text for one in found]), n)
    return Written(text=" ".join(found[place].text for place in sorted(places)), score=None, tokens=(), finish="end")


def answer_sentences(loaded: Loaded, question: str, passage: str, *, n: int = 1) -> list[Span]:
    """The sentences of a text that are nearest to a question, the nearest first.

    Args:
        loaded: A model that embeds.
        question: The question.
        passage: The text to look in, of any length.
        n: How many sentences.
    """
    found = sentences_of(passage)
    groups = [range(start, min(start + _PASSAGE, len(found))) for start in range(0, len(found), _PASSAGE // 2)]
    passages = [passage[found[group[0]].start : found[group[-1]].end] for group in groups]
    asked_D = _units(loaded, [question])[0]
    alone = _units(loaded, [one.text for one in found]) @ asked_D
    around = np.full(len(found), -1.0, dtype=np.float32)
    for group, likeness in zip(groups, _units(loaded, passages) @ asked_D, strict=True):
        around[list(group)] = np.maximum(around[list(group)], likeness)
    score = (alone + around) / 2
    best = sorted(range(len(found)), key=lambda place: (-score[place], place))[:n]
    return [
        Span(text=found[place].text, score=float(score[place]), start=found[place].start, end=found[place].end)
        for place in best
    ]


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a text, each with its place."""
    found: list[Sentence] = []
    place = 0
    for segment in split_sentences(text):
        end = place + len(segment.text)
        if segment.is_sentence:
            found.append(Sentence(text=segment.text, start=place, end=end))
        place = end
    return found


def _chosen(units_SD: Float32[np.ndarray, "S D"], n: int) -> list[int]:
    """Places of sentences that are like the mean of all and unlike one another."""
    whole_S = units_SD @ _unit(units_SD.mean(0))
    taken: list[int] = []
    repeats_S = np.zeros(len(units_SD), dtype=np.float32)
    while len(taken) < n:
        worth_S = _LIKENESS * whole_S - (1 - _LIKENESS) * repeats_S
        worth_S[taken] = -np.inf
        taken.append(int(worth_S.argmax()))
        likeness_S = units_SD @ units_SD[taken[-1]]
        repeats_S = likeness_S if len(taken) == 1 else np.maximum(repeats_S, likeness_S)
    return taken


def _units(loaded: Loaded, texts: Sequence[str]) -> Float32[np.ndarray, "S D"]:
    return _unit(embed(loaded, texts, truncate=True))


def _unit(vectors: Float32[np.ndarray, "... D"]) -> Float32[np.ndarray, "... D"]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
