"""What a run means: the arithmetic of a number, what heads do, and what changes when something is changed.

Takes: a model, and runs of it.
Gives: Runs that can be asked why; lenses, alignments, summaries of heads; edits, and what they change.
Uses:  trace, training (for scores), tasks, engine, figures, models, nn, probe; numpy, torch.
Never: a forward pass of its own making.
"""

from clearhead.explain.alignment import WordAlignment, align, alignment_error_rate
from clearhead.explain.compare import Comparison, Shift, compare
from clearhead.explain.contributions import open_logit
from clearhead.explain.edits import (
    EDITS,
    ablate,
    drop,
    freeze,
    look_at,
    open_mask,
    parse_edit,
    patch,
    scale_scores,
    skip,
    swap,
)
from clearhead.explain.heads import HeadSummary, summaries
from clearhead.explain.lens import Lens
from clearhead.explain.node import Address, Node, Operation
from clearhead.explain.patching import PatchMap, patch_map
from clearhead.explain.run import Run
from clearhead.explain.show import as_data, as_html, as_text
from clearhead.explain.word_vectors import similarity_figure, word_similarity

__all__ = [
    "EDITS",
    "Address",
    "Comparison",
    "HeadSummary",
    "Lens",
    "Node",
    "Operation",
    "PatchMap",
    "Run",
    "Shift",
    "WordAlignment",
    "ablate",
    "align",
    "alignment_error_rate",
    "as_data",
    "as_html",
    "as_text",
    "compare",
    "drop",
    "freeze",
    "look_at",
    "open_logit",
    "open_mask",
    "parse_edit",
    "patch",
    "patch_map",
    "scale_scores",
    "similarity_figure",
    "skip",
    "summaries",
    "swap",
    "word_similarity",
]
