"""What an edit changes: in the text, in the probabilities, in BLEU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.config import Family
from clearhead.explain.numbers import softmax
from clearhead.probe import Listener, listen
from clearhead.tasks import Loaded
from clearhead.trace import Trace, record_generation, record_reading


@dataclass(frozen=True, kw_only=True)
class Shift:
    """How the probability of one output changed.

    Attributes:
        output: The piece or label.
        before: Its probability without the edit.
        after: Its probability with it.
    """

    output: str
    before: float
    after: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One text with and without an edit.

    Attributes:
        text: What was read.
        before: What was written without the edit; empty for a model that only reads.
        after: What was written with it.
        shifts: The outputs whose probability changed most, at the first position that was written, or of the text.
    """

    text: str
    before: str
    after: str
    shifts: tuple[Shift, ...]

    @property
    def changed(self) -> bool:
        """Whether the text is another."""
        return self.before != self.after


def compare(
    loaded: Loaded, text: str, edits: Sequence[Listener], *, to: str | None = None, most: int = 8, **options: Any
) -> Comparison:
    """Runs a model on a text without and with edits.

    Args:
        loaded: The model.
        text: The text.
        edits: What to change.
        to: The language to write, where the model translates.
        most: How many probabilities to show.
        **options: How to decode; chance has no part in it unless they say so.
    """
    options = {"temperature": 0, **options} if loaded.config.family is Family.DECODER_ONLY else options
    before, first = _outcome(loaded, text, to, options)
    with listen(*edits):
        after, second = _outcome(loaded, text, to, options)
    names = loaded.config.head.labels
    tokenizer = loaded.tokenizer.target
    moved = np.argsort(-np.maximum(first, second))[: most * 4]
    moved = moved[np.argsort(-np.abs(first - second)[moved])][:most]
    shifts = [
        Shift(
            output=names[index] if names else tokenizer.name_of(index),
            before=float(first[index]),
            after=float(second[index]),
        )
        for index in (int(one) for one in moved)
    ]
    return Comparison(text=text, before=before, after=after, shifts=tuple(shifts))


def _outcome(loaded: Loaded, text: str, to: str | None, options: dict[str, Any]) -> tuple[str, np.ndarray]:
    """What a model makes of a text, and the probabilities at the first position that it wrote, or of the text."""
    if loaded.config.family is Family.ENCODER_ONLY:
        trace = record_reading(loaded, text, sites=("logits",))
        logits = trace["logits"][0]
        return "", softmax(logits if logits.ndim == 1 else logits[_masked(loaded, trace)])
    written = record_generation(loaded, text, to=to, sites=("logits",), **options)
    return written.text, softmax(written.trace["logits"][0, 0])


def _masked(loaded: Loaded, trace: Trace) -> int:
    """The first mask of a text, or its first token."""
    mask = loaded.tokenizer.special.mask
    return next((place for place, token in enumerate(trace.source) if token.id == mask), 0)
