"""Labels that a model was not trained on: by entailment where it has that head, by nearness of meaning otherwise.

entailment   does the text entail "This example is sport."?
             softmax over the labels of the logit that says yes     (Yin et al. 2019)
meaning      softmax over the labels of cosine(text, label) / ZERO_SHOT_TEMPERATURE
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.config import HeadKind
from clearhead.engine import read
from clearhead.errors import TextError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.vectors import embed
from clearhead.tasks.written import check_texts
from clearhead.text import Encoding

ZERO_SHOT_TEMPERATURE = 0.05
"""What cosines are divided by before their softmax: they lie close together, and this spreads them."""

_HYPOTHESIS = "This example is {}."


def zero_shot(
    loaded: Loaded,
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    hypothesis: str | None = None,
    several: bool = False,
    truncate: bool = False,
) -> Float[Tensor, "B labels"]:
    """The score of every label for every text.

    Args:
        loaded: The model.
        texts: The texts.
        labels: The labels, in words.
        hypothesis: A sentence that puts a label into words, with {} where it goes. By default labels are compared
            as they are, and entailment is asked with a short sentence.
        several: Whether several labels may hold, so that each is scored by itself: by whether it is entailed
            rather than contradicted, or by its cosine where that is above zero.
        truncate: Whether the end of a text that is too long is cut off.
    """
    if hypothesis is not None and "{}" not in hypothesis:
        raise TextError("a hypothesis without a place for the label", got=repr(hypothesis[:100]), expected="{} in it")
    named = check_texts(labels)
    if not named or not all(label.strip() for label in named) or len(set(named)) < len(named):
        raise TextError("labels must be words that differ", got=repr(named)[:100], expected="at least one label")
    entailment = _entailment(loaded)
    if entailment is None:
        told = [label if hypothesis is None else hypothesis.replace("{}", label) for label in named]
        return _by_meaning(loaded, texts, told, several=several, truncate=truncate)
    told = [(hypothesis or _HYPOTHESIS).replace("{}", label) for label in named]
    return _by_entailment(loaded, texts, told, entailment, several=several, truncate=truncate)


def _entailment(loaded: Loaded) -> int | None:
    """Which of a head's labels says that one text entails another; None where none does."""
    head = loaded.config.head
    if head.kind is not HeadKind.SEQUENCE_CLASSIFICATION or len(head.labels) < 2:
        return None
    return next((place for place, label in enumerate(head.labels) if label.lower().startswith("entail")), None)


def _by_meaning(
    loaded: Loaded, texts: Sequence[str], told: Sequence[str], *, several: bool, truncate: bool
) -> Float[Tensor, "B labels"]:
    vectors = embed(loaded, [*texts, *told], truncate=truncate)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = torch.as_tensor(vectors / np.where(lengths > 0, lengths, 1))
    cosines = units[: len(texts)] @ units[len(texts) :].T
    return cosines.clamp(0, 1) if several else (cosines / ZERO_SHOT_TEMPERATURE).softmax(-1)


def _by_entailment(
    loaded: Loaded, texts: Sequence[str], told: Sequence[str], entailment: int, *, several: bool, truncate: bool
) -> Float[Tensor, "B labels"]:
    pairs = [_pair(loaded, text, sentence, truncate=truncate) for text in texts for sentence in told]
    logits = torch.zeros(len(pairs), len(loaded.config.head.labels))
    for reading in read(loaded.reader, pairs, pad_id=loaded.config.tokens.pad or 0):
        assert reading.output.logits is not None
        logits[reading.places] = reading.output.logits
    by_label = logits.reshape(len(texts), len(told), -1)
    if several or len(told) == 1:
        contradiction = -1 if entailment == 0 else 0
        return by_label[..., [contradiction, entailment]].softmax(-1)[..., 1]
    return by_label[..., entailment].softmax(-1)


def _pair(loaded: Loaded, text: str, sentence: str, *, truncate: bool) -> Encoding:
    """A text and what it may entail; the text is cut where both are too long."""
    tokenizer, limit = loaded.tokenizer, loaded.source_limit
    pair = tokenizer.encode_pair(text, sentence, literal=True)
    if len(pair) <= limit:
        return pair
    if not truncate:
        raise TextError(
            "a text is longer than the model's context",
            got=f"{len(pair)} tokens, with what it may entail",
            expected=f"at most {limit}",
            advice="a shorter text, or truncate=True, which cuts off the end",
        )
    n_text = len(tokenizer.encode(text, add_special=False, literal=True))
    n_kept = n_text - (len(pair) - limit)
    if n_kept < 1:
        raise TextError("a label that leaves no room for the text", got=repr(sentence[:60]), advice="a shorter label")
    first = next(place for place, special in enumerate(pair.special) if not special)
    kept = [*range(first + n_kept), *range(first + n_text, len(pair))]
    return Encoding(
        ids=tuple(pair.ids[place] for place in kept),
        pieces=tuple(pair.pieces[place] for place in kept),
        offsets=tuple(pair.offsets[place] for place in kept),
        special=tuple(pair.special[place] for place in kept),
        segments=tuple(pair.segments[place] for place in kept),
    )
