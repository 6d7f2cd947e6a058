"""E11: the matrix product before Q = X W."""

import torch

from clearhead.config import AttentionConfig
from clearhead.lessons.example import Input, Result, Table, WorkedExample, table
from clearhead.lessons.small_models import filled
from clearhead.nn import Attention, AttentionMask
from clearhead.probe import Recorder, listen

__all__ = ["work"]

_X: Table = ((3, 4), (7, 2), (5, 9))
_W: Table = ((3, 1, 5), (6, 9, 7))
_PRINTED = ((33, 39, 43), (33, 25, 49), (69, 86, 88))


def work(*, x: Table = _X, w: Table = _W) -> WorkedExample:
    """Multiplies through the query projection of a real attention.

    Args:
        x: Three words of width two.
        w: The weights, two by three.
    """
    x_BTD, weight = torch.tensor([x], dtype=torch.float64), torch.tensor(w, dtype=torch.float64)
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
        inputs=(
            Input(key="x", name="X", value=x, least=-1000, most=1000),
            Input(key="w", name="W", value=w, least=-1000, most=1000),
        ),
    )
