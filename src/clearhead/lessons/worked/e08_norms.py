"""E8: batch norm or layer norm."""

import torch
from torch import Tensor

from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers, table
from clearhead.nn import BatchNorm, LayerNorm

__all__ = ["work"]

_FEATURES = ("f1", "f2", "z1", "z2", "z3")
_SENTENCES: Table = ((2, 3, 7, 5, 4), (1, 1, 2, 3, 4), (5, 4, 1, 2, 3), (6, 1, 7, 5, 6), (7, 1, 3, 3, 4))
_N_PADDING = 100

# The notes use none; the kernel of batch norm wants one, and this one changes no digit.
_EPSILON = 1e-15


def work(*, sentences: Table = _SENTENCES) -> WorkedExample:
    """Normalises the notes' table both ways, with and without padding.

    Args:
        sentences: Five features of each of five sentences.
    """
    x_BD = torch.tensor(sentences, dtype=torch.float64)
    padded_BD = torch.cat([x_BD, torch.zeros(_N_PADDING, len(_FEATURES), dtype=torch.float64)])
    layer = LayerNorm(width=len(_FEATURES), epsilon=_EPSILON).double()
    batch = BatchNorm(width=len(_FEATURES), epsilon=_EPSILON).double()
    with torch.no_grad():
        by_layer_BD, by_batch_BD = layer(x_BD), batch(x_BD)
        padded_layer_BD, padded_batch_BD = layer(padded_BD), batch(padded_BD)
    n_real = len(_SENTENCES)
    names = tuple(f"sentence {number}" for number in range(1, n_real + 1))
    return WorkedExample(
        key="E8",
        title="Batch norm or layer norm",
        shows=(
            "Layer norm looks along one sentence's features, batch norm down one feature of all sentences. "
            f"Add {_N_PADDING} rows of padding, all zero: batch norm changes every sentence, layer norm none."
        ),
        results=(
            Result(name="layer norm", computed=table(by_layer_BD), rows=names, columns=_FEATURES),
            Result(name="batch norm", computed=table(by_batch_BD), rows=names, columns=_FEATURES),
            Result(name="layer norm of the first sentence", computed=numbers(by_layer_BD[0]), columns=_FEATURES),
            Result(name="batch norm of f1", computed=numbers(by_batch_BD[:, 0]), columns=names),
            Result(
                name="batch norm of f1, padded",
                computed=numbers(padded_batch_BD[:n_real, 0]),
                columns=names,
                remark="The zeros pull the mean down and swell the batch: every sentence looks large beside padding.",
            ),
            Result(name="largest change by padding, batch norm", computed=_change(by_batch_BD, padded_batch_BD)),
            Result(name="largest change by padding, layer norm", computed=_change(by_layer_BD, padded_layer_BD)),
        ),
        inputs=(
            Input(
                key="sentences",
                name="the sentences",
                value=sentences,
                rows=names,
                columns=_FEATURES,
                least=-1000,
                most=1000,
            ),
        ),
    )


def _change(before_BD: Tensor, after_BD: Tensor) -> float:
    return float((after_BD[: len(before_BD)] - before_BD).abs().max())
