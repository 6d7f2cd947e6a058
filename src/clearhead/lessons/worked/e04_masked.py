"""E4: masked attention over three words."""

import math

import torch

from clearhead.figures import heatmap
from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers, table
from clearhead.nn import AttentionMask, DotScorer, attend
from clearhead.probe import Recorder, listen

__all__ = ["work"]

_WORDS = ("Le", "chat", "dort")
_VECTORS: Table = ((0.1, 0.0, 0.3, 0.7), (0.4, 0.1, 0.2, 0.6), (0.8, 0.2, 0.1, 0.5))
_PRINTED_PRODUCT = ((0.63, 0.54, 0.45), (0.54, 0.61, 0.56), (0.45, 0.56, 0.54))
_PRINTED_PATTERN = ((1.0, 0.0, 0.0), (0.491, 0.509, 0.0), (0.326, 0.347, 0.327))


def work(*, vectors: Table = _VECTORS) -> WorkedExample:
    """Scores, scales, masks and mixes; then reads the notes' scores once more.

    Args:
        vectors: Queries, keys and values in one: four numbers a word.
    """
    x_BHTC = torch.tensor(vectors, dtype=torch.float64)[None, None]
    product_BHQK = DotScorer()(x_BHTC, x_BHTC)
    mask = AttentionMask(n_queries=len(_WORDS), n_keys=len(_WORDS), causal=True)
    scale = 1 / math.sqrt(x_BHTC.shape[-1])
    recorder = Recorder("score", "pattern")
    with listen(recorder):
        mixed_BHTC = attend(x_BHTC, x_BHTC, x_BHTC, scorer=DotScorer(scale=scale), mask=mask)
    pattern_QK = recorder["pattern"][0, 0]
    theirs_BHQK = mask.softmax(torch.tensor(_PRINTED_PRODUCT, dtype=torch.float64)[None, None] * scale)
    return WorkedExample(
        key="E4",
        title="Masked attention: “Le chat dort”",
        shows=(
            "While a translation is written, a word may look only at itself and at words before it. "
            "Queries, keys and values are the same three vectors of width 4; the product is divided by √4, "
            "the future is closed, and each row of the pattern still sums to 1."
        ),
        results=(
            Result(
                name="Q Kᵀ",
                computed=table(product_BHQK[0, 0]),
                printed=_PRINTED_PRODUCT,
                remark="Each cell is a dot product of two printed vectors; the printed cells are not.",
                rows=_WORDS,
                columns=_WORDS,
                digits=2,
            ),
            Result(name="scaled", computed=table(recorder["score"][0, 0]), rows=_WORDS, columns=_WORDS, digits=3),
            Result(
                name="masked pattern",
                computed=table(pattern_QK),
                printed=_PRINTED_PATTERN,
                remark="The error of the product goes on, and the last printed row has one of its own: see below.",
                rows=_WORDS,
                columns=_WORDS,
            ),
            Result(
                name="last row of the pattern, from the printed product",
                computed=numbers(theirs_BHQK[0, 0, -1]),
                printed=_PRINTED_PATTERN[-1],
                remark="So the last printed row is not even the softmax of the printed scores.",
                digits=3,
            ),
            Result(name="output", computed=table(mixed_BHTC[0, 0]), rows=_WORDS),
        ),
        figures={"pattern": heatmap(pattern_QK.numpy(), rows=_WORDS, columns=_WORDS, title="Masked attention")},
        inputs=(Input(key="vectors", name="Q = K = V", value=vectors, rows=_WORDS, least=-20, most=20),),
    )
