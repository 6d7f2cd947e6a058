"""What nearness of meaning does by itself: the sentences that stand for a text, and those that answer a question.

Nothing is written here: every word of a result stands in the text that was given. What is too long for the model to
read as one sentence is divided between words, and its pieces count as sentences.

    summary   again and again the sentence that is most like the whole and least like those taken already
              argmax  λ cos(sentence, mean) - (1 - λ) max cos(sentence, taken)        (Carbonell and Goldstein 1998)
    answer    (cos(question, passage) + cos(question, sentence)) / 2, for every sentence of every passage
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float32

from clearhead.errors import TextError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.vectors import embed
from clearhead.tasks.written import Span, Written
from clearhead.text.passages import split_passages
from clearhead.text.sentences import split_sentences

_LIKENESS = 0.7
"""λ: how much being like the whole counts beside being unlike what is taken."""
_SHARE = 3
_MOST_BY_DEFAULT = 5
_PASSAGE = 4
"""Sentences that are read together when an answer is looked for; passages overlap by half."""
_AT_ONCE = 1024


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence and where it stands in its text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Read:
    """A text as a model has read it: its sentences, their vectors, and those of the passages that they stand in."""

    text: str
    sentences: list[Sentence]
    alone_BD: Float32[np.ndarray, "B D"]
    around_BD: Float32[np.ndarray, "B D"]


_last_read: WeakKeyDictionary[Loaded, Read] = WeakKeyDictionary()
"""The last text of each model, since one text is often asked many questions."""


def summary_sentences(loaded: Loaded, text: str, *, n: int | None = None) -> Written:
    """The sentences that stand for a text, in their order.

    Args:
        loaded: A model that embeds.
        text: The text; white space alone stays as it is.
        n: How many sentences; by default a third of them, five at most.
    """
    if n is not None and n < 1:
        raise TextError("a summary without a sentence", got=n, expected="1 or more")
    found = sentences_of(loaded, text)
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
    read = _last_read.get(loaded)
    if read is None or read.text != passage:
        read = _last_read[loaded] = _read(loaded, passage)
    asked_D = _units(loaded, [question])[0]
    score_B = (read.alone_BD @ asked_D + read.around_BD @ asked_D) / 2
    best = sorted(range(len(score_B)), key=lambda place: (-score_B[place], place))[:n]
    return [
        Span(text=one.text, score=float(score_B[place]), start=one.start, end=one.end)
        for place in best
        for one in (read.sentences[place],)
    ]


def sentences_of(loaded: Loaded, text: str) -> list[Sentence]:
    """The sentences of a text, each with its place, none of them longer than the model can read."""
    found: list[Sentence] = []
    place = 0
    for segment in split_sentences(text):
        end = place + len(segment.text)
        if segment.is_sentence:
            found.extend(_pieces(loaded, segment.text, place))
        place = end
    return found


def _pieces(loaded: Loaded, sentence: str, start: int) -> Iterator[Sentence]:
    def length(piece: str) -> int:
        return len(loaded.tokenizer.encode(piece, literal=True))

    fits = length(sentence) <= loaded.source_limit
    place = 0
    for piece in [sentence] if fits else split_passages(sentence, limit=loaded.source_limit, length=length):
        place = sentence.index(piece, place)
        yield Sentence(text=piece, start=start + place, end=start + place + len(piece))
        place += len(piece)


def _read(loaded: Loaded, text: str) -> Read:
    found = sentences_of(loaded, text)
    groups = [range(start, min(start + _PASSAGE, len(found))) for start in range(0, len(found), _PASSAGE // 2)]
    passages_BD = _units(loaded, [text[found[group[0]].start : found[group[-1]].end] for group in groups])
    # A sentence stands in two passages; the one in which it is further from the edge speaks for it.
    nearer = [min(len(groups) - 1, max(0, (place - 1) // (_PASSAGE // 2))) for place in range(len(found))]
    return Read(
        text=text,
        sentences=found,
        alone_BD=_units(loaded, [one.text for one in found]),
        around_BD=passages_BD[nearer],
    )


def _chosen(units_BD: Float32[np.ndarray, "B D"], n: int) -> list[int]:
    """Places of sentences that are like the mean of all and unlike one another."""
    whole_B = units_BD @ _unit(units_BD.mean(0))
    taken: list[int] = []
    repeats_B = np.zeros(len(units_BD), dtype=np.float32)
    while len(taken) < n:
        worth_B = _LIKENESS * whole_B - (1 - _LIKENESS) * repeats_B
        worth_B[taken] = -np.inf
        taken.append(int(worth_B.argmax()))
        likeness_B = units_BD @ units_BD[taken[-1]]
        repeats_B = likeness_B if len(taken) == 1 else np.maximum(repeats_B, likeness_B)
    return taken


def _units(loaded: Loaded, texts: Sequence[str]) -> Float32[np.ndarray, "B D"]:
    """Vectors of length one, some texts at a time: as ids, all of a long text would take much more room."""
    parts = [embed(loaded, texts[start : start + _AT_ONCE], truncate=True) for start in range(0, len(texts), _AT_ONCE)]
    return _unit(np.concatenate(parts))


def _unit(vectors: Float32[np.ndarray, "... D"]) -> Float32[np.ndarray, "... D"]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
