"""E11: the matrix product before Q = X W."""

import torch

from clearhead.config import AttentionConfig
from clearhead.lessons.example import Result, WorkedExample, table
from clearhead.lessons.small_models import filled
from clearhead.nn import Attention, AttentionMask
from clearhead.probe import Recorder, listen

__all__ = ["work"]

_X = [[3, 4], [7, 2], [5, 9]]
_W = [[3, 1, 5], [6, 9, 7]]
_PRINTED = ((33, 39, 43), (33, 25, 49), (69, 86, 88))


def work() -> WorkedExample:
    """Multiplies through the query projection of a real attention."""
    x_BTD, weight = torch.tensor([_X], dtype=torch.float64), torch.tensor(_W, dtype=torch.float64)
    config = AttentionConfig(n_heads=1, bias=False)
    attention = filled(lambda: Attention(config=config, width=2, head_width=3)).double()
    recorder = Recorder("query")
    with torch.no_grad(), listen(recorder):
        attention.query.weight.copy_(weight.mT)
        attention(x_BTD, x_BTD, mask=AttentionMask(n_queries=3, n_keys=3))
    return WorkedExample(
        key="E11",
        title="The matrix product behind Q = X W",
        shows=(
            "Three words of width 2 times a matrix of 2 × 3 give three queries of width 3: each cell is a row of X "
            "times a column of W. The product is the query that an attention with this W_Q computes."
        ),
        results=(Result(name="Q = X W", computed=table(recorder["query"][0, 0]), printed=_PRINTED, digits=0),),
    )
