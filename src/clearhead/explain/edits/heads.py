"""Heads that are switched off, and scores that are scaled otherwise."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.explain.edits.placed import as_heads, chosen_heads
from clearhead.probe import Edit
from clearhead.trace import Trace


def ablate(part: str, *, head: int | Sequence[int] | None = None, mean_of: Trace | None = None) -> Edit:
    """Switches heads off: what they bring back is 0, or what they bring on the average.

    Args:
        part: An attention, such as `decoder.5.self`; globs work.
        head: Which head or heads; all by default.
        mean_of: A run over whose positions to take the average; 0 where none is given.
    """
    heads = as_heads(head)

    def change(mixed_BHQC: Tensor) -> Tensor:
        changed = mixed_BHQC.clone()
        for one in chosen_heads(part, heads, mixed_BHQC.shape[1]):
            changed[:, one] = 0.0 if mean_of is None else _mean(mean_of, part, one).to(changed)
        return changed

    return Edit(f"{part}.mixed", change)


def _mean(trace: Trace, part: str, head: int) -> Tensor:
    if "*" in part:
        raise TraceError("a mean belongs to one attention", got=part, expected="a name without *")
    return torch.tensor(trace[f"{part}.mixed"][0, head].mean(0))


def scale_scores(part: str, *, factor: float | int) -> Edit:
    """Multiplies every score of an attention: above 1 its patterns sharpen, below 1 they flatten.

    A bias of distance is part of the score, and is multiplied with it.

    Args:
        part: An attention, such as `decoder.5.self`; globs work.
        factor: What to multiply by; the square root of the head's width undoes the usual scale.
    """
    if not math.isfinite(factor):
        raise TraceError("an impossible factor", got=factor, expected="a number")
    return Edit(f"{part}.score", lambda score_BHQK: score_BHQK * factor)
