"""The next id of every row: the likeliest, or a draw among candidates."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.decoding.noise import gumbel
from clearhead.decoding.numbers import floats, integers
from clearhead.decoding.processors import check_known, needed, process
from clearhead.decoding.row import Row
from clearhead.decoding.settings import DecodingSettings
from clearhead.errors import DecodingError

_ENOUGH = 512


def choose(logits_BV: Float[Tensor, "B V"], rows: Sequence[Row]) -> list[tuple[int, float | None]]:
    """The id that each row goes on with, and its log-probability where the row wants it.

    Rows with like settings are chosen for together; none depends on another.

    Raises:
        DecodingError: A row has nothing left to choose from.
    """
    if logits_BV.stride(1) == 1 and logits_BV.device.type == "cpu" and not any(map(_asks_for_more, rows)):
        return _plainly(logits_BV, rows)
    processed_BV = _processed(logits_BV, rows)
    chosen_B = _likeliest(processed_BV)
    groups: dict[tuple[float, ...], list[int]] = {}
    for place, row in enumerate(rows):
        asked = row.settings
        if asked.draws:  # by what shapes the draw, and not by whose it is: seeds differ, and stop strings
            groups.setdefault((asked.temperature, asked.top_k, asked.top_p, asked.min_p), []).append(place)
    for places in groups.values():
        settings = rows[places[0]].settings
        logits = processed_BV if len(places) == len(rows) else processed_BV[places]
        drawn = _draw(logits, settings, seeds=[rows[i].seed for i in places], steps=[rows[i].n_new for i in places])
        chosen_B[places] = drawn
    value_B = processed_BV.gather(1, chosen_B.unsqueeze(1)).squeeze(1)
    if not torch.isfinite(value_B).all():
        raise _nothing_left(rows[int((~torch.isfinite(value_B)).nonzero()[0])])
    return list(zip(integers(chosen_B), _log_probabilities(logits_BV, chosen_B, rows), strict=True))


def _asks_for_more(row: Row) -> bool:
    """Whether a row wants anything but the likeliest id and its log-probability."""
    return row.settings.draws or row.forbidden is None


def _plainly(logits_BV: Tensor, rows: Sequence[Row]) -> list[tuple[int, float | None]]:
    """The likeliest id of every row; NumPy looks at several numbers at once, and torch at one."""
    chosen: list[int] = []
    for logits_V, row in zip(logits_BV.detach().numpy(), rows, strict=True):
        left_out = row.forbidden or ()
        chosen.append(_allowed(logits_V, left_out))
        if chosen[-1] in left_out or not isfinite(logits_V[chosen[-1]]):
            raise _nothing_left(row)
    if not any(row.scored for row in rows):
        return [(index, None) for index in chosen]
    log_p_BV = logits_BV.detach().log_softmax(-1).numpy()
    scores = [float(log_p_BV[place, index]) if rows[place].scored else None for place, index in enumerate(chosen)]
    return list(zip(chosen, scores, strict=True))


def _allowed(logits_V: np.ndarray, forbidden: tuple[int, ...]) -> int:
    """The likeliest id of a row that may be chosen; one that may not where no other is possible."""
    check_known(forbidden, len(logits_V))
    index = int(logits_V.argmax())
    if index not in forbidden:
        return index
    logits_V = logits_V.copy()
    logits_V[list(forbidden)] = -np.inf
    return int(logits_V.argmax())


def _likeliest(logits_BV: Tensor) -> Tensor:
    """The place of the largest logit of each row, looked for in the order in which logits lie."""
    return logits_BV.t().argmax(0) if logits_BV.stride(0) == 1 else logits_BV.argmax(-1)


def _processed(logits_BV: Tensor, rows: Sequence[Row]) -> Tensor:
    if not any(needed(row.settings) for row in rows):
        return logits_BV
    logits_BV = logits_BV.clone()
    for logits_V, row in zip(logits_BV, rows, strict=True):
        process(logits_V, ids=row.ids, n_new=row.n_new, n_most=row.n_most, settings=row.settings)
    return logits_BV


def _draw(logits_BV: Tensor, settings: DecodingSettings, *, seeds: list[int], steps: list[int]) -> Tensor:
    ids_BV, score_BV = candidates(logits_BV, settings)
    noise_BV = gumbel(ids_BV, seeds=seeds, steps=steps)
    place_B = (score_BV.double() + noise_BV).argmax(-1, keepdim=True)
    return ids_BV.gather(1, place_B).squeeze(1)


def candidates(
    logits_BV: Float[Tensor, "B V"], settings: DecodingSettings
) -> tuple[Int[Tensor, "B _"], Float[Tensor, "B _"]]:
    """The ids that may be drawn and their logits at the settings' temperature; minus infinity for those that may not.

    Where only the likeliest matter, they come in falling order.
    """
    logits_BV = logits_BV / settings.temperature
    size = logits_BV.shape[1]
    if not settings.top_k and settings.top_p == 1.0 and settings.min_p == 0.0:
        return torch.arange(size, device=logits_BV.device).expand_as(logits_BV), logits_BV
    if settings.top_k:
        score, ids = logits_BV.topk(min(settings.top_k, size))
        total_B = score.logsumexp(-1)
    else:
        total_B = logits_BV.logsumexp(-1)
        score, ids = logits_BV.topk(min(_ENOUGH, size))
        if not _enough(score, total_B, settings):
            score, ids = logits_BV.sort(-1, descending=True)
    share = (score - total_B.unsqueeze(1)).exp()
    keep = share.cumsum(-1) - share < settings.top_p  # what is likelier does not reach top_p yet
    keep[:, 0] = True
    keep &= share >= settings.min_p * share[:, :1]
    return ids, score.masked_fill(~keep, -torch.inf)


def _enough(score: Tensor, total_B: Tensor, settings: DecodingSettings) -> bool:
    """Whether the likeliest ids hold all that may be drawn, so that the whole vocabulary need not be sorted."""
    share = (score - total_B.unsqueeze(1)).exp()
    by_sum = share.sum(-1) >= settings.top_p if settings.top_p < 1.0 else torch.zeros_like(total_B, dtype=torch.bool)
    by_least = share[:, -1] < settings.min_p * share[:, 0]
    return bool((by_sum | by_least).all())


def _log_probabilities(logits_BV: Tensor, chosen_B: Tensor, rows: Sequence[Row]) -> list[float | None]:
    if not any(row.scored for row in rows):
        return [None] * len(rows)
    value_B = logits_BV.log_softmax(-1).gather(1, chosen_B.unsqueeze(1)).squeeze(1)
    return [value if row.scored else None for value, row in zip(floats(value_B), rows, strict=True)]


def _nothing_left(row: Row) -> DecodingError:
    return DecodingError(
        "no id is left to choose from, or the model's logits are not numbers",
        got=f"after {row.n_new} new ids",
        advice="fewer bad words, a smaller no_repeat_ngram, or a look at the weights: `clearhead verify`",
    )
