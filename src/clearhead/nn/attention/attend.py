"""Attention itself: who looks at whom, and what they bring back.

pattern = softmax(score(Q, K))        mixed = pattern V        (Vaswani et al. 2017, eq. 1)
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from clearhead.nn.attention.heads import share_heads
from clearhead.nn.attention.mask import AttentionMask
from clearhead.nn.attention.score import Scorer
from clearhead.probe import heard, probe


def attend(
    query_BHQC: Float[Tensor, "B H Q C"],
    key_BGKC: Float[Tensor, "B G K C"],
    value_BGKC: Float[Tensor, "B G K C"],
    *,
    scorer: Scorer,
    mask: AttentionMask,
    bias_1HQK: Float[Tensor, "1 H Q K"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H Q C"]:
    """Mixes values by how well each query matches each key.

    PyTorch's fused kernel does it in one step, unless somebody wants to see the steps.
    """
    if scorer.fused_scale is not None and not heard("score", "pattern"):
        mixed_BHQC = _fused(
            query_BHQC, key_BGKC, value_BGKC, scale=scorer.fused_scale, mask=mask, bias_1HQK=bias_1HQK, dropout=dropout
        )
        return probe("mixed", mixed_BHQC)
    n_heads = query_BHQC.shape[1]
    score_BHQK = scorer(query_BHQC, share_heads(key_BGKC, n_heads))
    if bias_1HQK is not None:
        score_BHQK = score_BHQK + bias_1HQK
    pattern_BHQK = probe("pattern", mask.softmax(probe("score", score_BHQK)))
    pattern_BHQK = functional.dropout(pattern_BHQK, dropout) if dropout else pattern_BHQK
    return probe("mixed", pattern_BHQK @ share_heads(value_BGKC, n_heads))


def _fused(
    query_BHQC: Float[Tensor, "B H Q C"],
    key_BGKC: Float[Tensor, "B G K C"],
    value_BGKC: Float[Tensor, "B G K C"],
    *,
    scale: float,
    mask: AttentionMask,
    bias_1HQK: Float[Tensor, "1 H Q K"] | None,
    dropout: float,
) -> Float[Tensor, "B H Q C"]:
    plain_causal = bias_1HQK is None and mask.is_plain_causal
    cells = None if plain_causal else mask.open if bias_1HQK is None else mask.with_bias(bias_1HQK)
    return functional.scaled_dot_product_attention(
        query_BHQC,
        key_BGKC,
        value_BGKC,
        attn_mask=cells,
        is_causal=plain_causal,
        scale=scale,
        dropout_p=dropout,
        enable_gqa=query_BHQC.shape[1] != key_BGKC.shape[1],
    )
