"""What a kernel computed, at the sites where the parts would have it."""

import numpy as np
from torch import Tensor

from clearhead.config import NormPlacement, StackConfig
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import Buffers
from clearhead.probe import heard, probe, scope


def serve(
    layer: int, x_BTD: Tensor, buffers: Buffers, config: StackConfig, shape: np.ndarray, *, rotated: bool
) -> Tensor:
    """Passes the probes of one block, in the order of the block; gives the stream after it.

    Args:
        layer: Which block it was.
        x_BTD: The stream before it.
        buffers: What the kernel left.
        config: The sizes of the stack.
        shape: The sizes of the step.
        rotated: Whether queries and keys were turned.
    """
    n_rows, n_keys, n_source = int(shape[at.N_ROWS]), int(shape[at.N_PAST]) + 1, int(shape[at.SOURCE_LENGTH])
    attention, head, width = config.attention, config.head_width, config.width
    n_heads, groups = attention.n_heads, attention.kv_heads

    def tell(name: str, place: int, *sizes: int, skip: int = 0) -> None:
        if heard(name):
            probe(name, buffers.rows(place, n_rows, *sizes, skip=skip))

    def normed(place: int, *, before: bool) -> None:
        if before is (config.norm.placement is NormPlacement.BEFORE):
            tell("norm", place, 1, width)

    with scope(str(layer)):
        probe("resid_pre", x_BTD)
        with scope("self"):
            normed(at.SELF_IN, before=True)
            tell("query", at.SELF_QKV, n_heads, 1, head)
            if rotated:
                tell("rotated_query", at.TURNED, n_heads, 1, head)
            tell("key", at.SELF_QKV, groups, 1, head, skip=n_heads * head)
            tell("value", at.SELF_QKV, groups, 1, head, skip=(n_heads + groups) * head)
            if rotated:
                tell("rotated_key", at.TURNED_KEY, groups, 1, head)
            tell("score", at.SCORES, n_heads, 1, n_keys)
            tell("pattern", at.PATTERN, n_heads, 1, n_keys)
            tell("mixed", at.MIXED, n_heads, 1, head)
            tell("output", at.SELF_OUT, 1, width)
            normed(at.MID, before=False)
        tell("resid_mid", at.MID, 1, width)
        if shape[at.HAS_CROSS]:
            with scope("cross"):
                normed(at.CROSS_IN, before=True)
                tell("query", at.CROSS_Q, n_heads, 1, head)
                tell("score", at.CROSS_SCORES, n_heads, 1, n_source)
                tell("pattern", at.CROSS_PATTERN, n_heads, 1, n_source)
                tell("mixed", at.CROSS_MIXED, n_heads, 1, head)
                tell("output", at.CROSS_OUT, 1, width)
                normed(at.CROSS_SUM, before=False)
            tell("resid_cross", at.CROSS_SUM, 1, width)
        with scope("ffn"):
            normed(at.FFN_IN, before=True)
            tell("hidden", at.HIDDEN, 1, config.feedforward.width)
            tell("output", at.FFN_OUT, 1, width)
            normed(at.POST, before=False)
        after_BTD = buffers.rows(at.POST, n_rows, 1, width)
        return probe("resid_post", after_BTD)
