"""What settings do to logits before an id is chosen: forbid, penalise, force.

Each works on one row alone and changes it in place.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.decoding.settings import DecodingSettings
from clearhead.errors import DecodingError

_NEVER = float("-inf")
_FEW = 16
"""Ids that may be left out of a ranking one by one."""


def process(
    logits_V: Float[Tensor, " V"], *, ids: Sequence[int], n_new: int, n_most: int, settings: DecodingSettings
) -> None:
    """Applies the settings of a row, in the order that published models were tuned with.

    Args:
        logits_V: The row's logits, or log-probabilities; changed in place.
        ids: All ids of the row so far.
        n_new: How many of them are new.
        n_most: How many may be new.
        settings: What to apply.

    Raises:
        DecodingError: The settings name an id that is not in the vocabulary.
    """
    if settings.repetition_penalty != 1.0:
        penalise_repetition(logits_V, ids, settings.repetition_penalty)
    if settings.no_repeat_ngram:
        forbid(logits_V, repeated(ids, settings.no_repeat_ngram))
    if settings.bad_words:
        alone = {(index,) for index in settings.end_ids}
        forbid(logits_V, completed(ids, [word for word in settings.bad_words if word not in alone]))
    if n_new < settings.min_new_tokens:
        forbid(logits_V, settings.end_ids)
    if n_new < len(settings.forced_start):
        force(logits_V, settings.forced_start[n_new])
    elif settings.forced_end is not None and n_new == n_most - 1:
        force(logits_V, settings.forced_end)


def needed(settings: DecodingSettings) -> bool:
    """Whether there is anything to apply."""
    return bool(settings.bad_words) or _more_than_bad_words(settings)


def _more_than_bad_words(settings: DecodingSettings) -> bool:
    return bool(
        settings.repetition_penalty != 1.0
        or settings.no_repeat_ngram
        or settings.min_new_tokens
        or settings.forced_start
        or settings.forced_end is not None
    )


def forbidden(settings: DecodingSettings) -> tuple[int, ...] | None:
    """The few ids that may never be chosen, where nothing else is asked of logits; None where more is.

    Such settings need no logits changed: a ranking leaves these ids out.
    """
    few = len(settings.bad_words) <= _FEW and all(len(word) == 1 for word in settings.bad_words)
    if not few or _more_than_bad_words(settings):
        return None
    return tuple(sorted({word[0] for word in settings.bad_words} - set(settings.end_ids)))


def penalise_repetition(logits_V: Float[Tensor, " V"], ids: Sequence[int], penalty: float) -> None:
    """Makes ids that are there already less likely, in place (Keskar et al. 2019)."""
    seen = _places(logits_V, sorted(set(ids)))
    value = logits_V[seen]
    logits_V[seen] = torch.where(value < 0, value * penalty, value / penalty)


def repeated(ids: Sequence[int], length: int) -> list[int]:
    """The ids that would complete a run of this length which is there already."""
    start = len(ids) - length + 1
    if start < 0:
        return []
    tail = list(ids[start:])
    return [ids[i + length - 1] for i in range(start) if list(ids[i : i + length - 1]) == tail]


def completed(ids: Sequence[int], bad_words: Sequence[Sequence[int]]) -> list[int]:
    """The ids that would complete a bad word."""
    return [word[-1] for word in bad_words if len(word) == 1 or list(ids[-len(word) + 1 :]) == list(word[:-1])]


def forbid(logits_V: Float[Tensor, " V"], ids: Sequence[int]) -> None:
    """Makes ids impossible, in place."""
    logits_V[_places(logits_V, ids)] = _NEVER


def force(logits_V: Float[Tensor, " V"], index: int) -> None:
    """Makes all other ids impossible, in place."""
    place = _places(logits_V, [index])
    logits_V.fill_(_NEVER)
    logits_V[place] = 0.0


def _places(logits_V: Tensor, ids: Sequence[int]) -> Tensor:
    check_known(ids, len(logits_V))
    return torch.tensor(list(ids), dtype=torch.long, device=logits_V.device)


def check_known(ids: Sequence[int], n_ids: int) -> None:
    """Makes sure that a vocabulary has these ids.

    Raises:
        DecodingError: It has not.
    """
    if ids and max(ids) >= n_ids:
        raise DecodingError(
            "the settings name an id that the model does not have",
            got=max(ids),
            expected=f"0 to {n_ids - 1}",
            advice="the ids of this model's own tokenizer",
        )
