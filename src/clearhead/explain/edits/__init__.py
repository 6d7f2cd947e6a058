"""Interventions: something in a run is changed, and everything after it follows.

Takes: the name of a part, and what to change in it.
Gives: listeners for `model.edit(…)`; as many at once as one likes.
Uses:  probe, trace, nn, errors; torch.
Never: a change to a weight: when the block ends, the model is what it was.
"""

from clearhead.explain.edits.heads import ablate, scale_scores
from clearhead.explain.edits.named import EDITS, parse_edit
from clearhead.explain.edits.patterns import freeze, look_at
from clearhead.explain.edits.places import drop, open_mask, swap
from clearhead.explain.edits.streams import patch, skip

__all__ = [
    "EDITS",
    "ablate",
    "drop",
    "freeze",
    "look_at",
    "open_mask",
    "parse_edit",
    "patch",
    "scale_scores",
    "skip",
    "swap",
]
