"""Token classification: names, places and whatever else a model was taught to mark in a text."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.engine import read
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import whole_texts
from clearhead.tasks.written import check_texts

OUTSIDE = "O"
"""The label of a token that is nothing in particular."""


@dataclass(frozen=True, kw_only=True)
class TokenLabel:
    """A marked stretch of a text.

    Attributes:
        label: What it is.
        score: How sure the model is, on the average of its tokens.
        word: Its text.
        start: Its first character.
        end: The character behind its last.
    """

    label: str
    score: float
    word: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class TokenScore:
    """One token with its likeliest label.

    Attributes:
        index: Its place among the tokens.
        piece: Its spelling in the vocabulary.
    """

    index: int
    piece: str
    label: str
    score: float
    start: int
    end: int


def label(loaded: Loaded, texts: Sequence[str]) -> list[list[TokenLabel]]:
    """The marked stretches of texts, in order.

    Neighbouring tokens of one label are one stretch; B- before a label begins a new one.

    Raises:
        ConfigError: A model that does not label tokens.
        TextError: A text is longer than the context.
    """
    texts = check_texts(texts)
    return [
        [_joined(text, group) for group in grouped(tokens)]
        for text, tokens in zip(texts, token_scores(loaded, texts), strict=True)
    ]


def token_scores(loaded: Loaded, texts: Sequence[str]) -> list[list[TokenScore]]:
    """The likeliest label of every token of every text, those included that are nothing in particular."""
    loaded.require("label")
    encodings = whole_texts(loaded, texts, truncate=False)
    labels = loaded.config.head.labels
    found: list[list[TokenScore]] = [[] for _ in texts]
    for reading in read(loaded.reader, encodings, pad_id=loaded.config.tokens.pad or 0):
        assert reading.output.logits is not None
        best = reading.output.logits.softmax(-1).max(-1)
        for row, place in enumerate(reading.places):
            one = encodings[place]
            found[place] = [
                TokenScore(
                    index=index,
                    piece=one.pieces[index],
                    label=labels[int(best.indices[row, index])],
                    score=float(best.values[row, index]),
                    start=one.offsets[index][0],
                    end=one.offsets[index][1],
                )
                for index in range(len(one))
                if not one.special[index]
            ]
    return found


def grouped(tokens: Sequence[TokenScore]) -> list[list[TokenScore]]:
    """Neighbouring tokens of one label together; those that are nothing in particular left out."""
    groups: list[list[TokenScore]] = []
    for token in tokens:
        begins, name = _parts(token.label)
        if groups and not begins and _parts(groups[-1][-1].label)[1] == name:
            groups[-1].append(token)
        else:
            groups.append([token])
    return [group for group in groups if name_of(group) != OUTSIDE]


def name_of(group: Sequence[TokenScore]) -> str:
    """The label of a group, without the sign that it begins or goes on."""
    return _parts(group[0].label)[1]


def _parts(name: str) -> tuple[bool, str]:
    """Whether a label begins a stretch, and the label itself."""
    return (name.startswith("B-"), name[2:]) if name.startswith(("B-", "I-")) else (False, name)


def _joined(text: str, group: Sequence[TokenScore]) -> TokenLabel:
    start, end = group[0].start, group[-1].end
    score = sum(token.score for token in group) / len(group)
    return TokenLabel(label=name_of(group), score=score, word=text[start:end], start=start, end=end)
