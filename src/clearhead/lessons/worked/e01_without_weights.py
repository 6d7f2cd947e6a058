"""E1: attention from word vectors alone."""

import torch

from clearhead.figures import heatmap
from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers
from clearhead.nn import AttentionMask, DotScorer, attend
from clearhead.probe import Recorder, listen

__all__ = ["work"]

_WORDS = ("The", "cat", "sat", "on", "the", "mat")
_THE = (1, 0, 0, 1, 0, 0, 1)
_VECTORS: Table = (
    _THE,
    (0, 1, 0, 1, 1, 0, 0),
    (0, 0, 1, 0, 1, 1, 0),
    (1, 0, 1, 0, 0, 1, 0),
    _THE,
    (0, 1, 1, 0, 0, 1, 0),
)
_PRINTED_SCORES = (1, 3, 1, 0, 1, 1)
_PRINTED_PATTERN = (0.089, 0.659, 0.089, 0.033, 0.089, 0.089)


def work(*, vectors: Table = _VECTORS) -> WorkedExample:
    """Lets "cat" look at all six words: score, softmax, mix.

    Args:
        vectors: One of seven numbers for each word.
    """
    x_BHTC = torch.tensor(vectors, dtype=torch.float64)[None, None]
    mask = AttentionMask(n_queries=len(_WORDS), n_keys=len(_WORDS))
    recorder = Recorder("score", "pattern")
    with listen(recorder):
        mixed_BHTC = attend(x_BHTC, x_BHTC, x_BHTC, scorer=DotScorer(), mask=mask)
    score_BHQK, pattern_BHQK = recorder["score"], recorder["pattern"]
    cat = _WORDS.index("cat")
    wrong = (
        f"The printed row sums to {sum(_PRINTED_PATTERN):.3f}. A softmax row sums to 1: "
        "its exponentials were divided by too small a sum."
    )
    return WorkedExample(
        key="E1",
        title="“The cat sat on the mat”: attention without weights",
        shows=(
            "Every word is a vector of seven numbers. “cat” is compared with each word by a dot product, softmax "
            "turns the scores into shares, and the new “cat” is the mix of all six vectors by those shares."
        ),
        results=(
            Result(
                name="scores of “cat”",
                computed=numbers(score_BHQK[0, 0, cat]),
                printed=_PRINTED_SCORES,
                columns=_WORDS,
                digits=0,
            ),
            Result(
                name="pattern of “cat”",
                computed=numbers(pattern_BHQK[0, 0, cat]),
                printed=_PRINTED_PATTERN,
                remark=wrong,
                columns=_WORDS,
            ),
            Result(name="new vector of “cat”", computed=numbers(mixed_BHTC[0, 0, cat])),
        ),
        figures={"pattern": heatmap(pattern_BHQK[0, 0].numpy(), rows=_WORDS, columns=_WORDS, title="Without weights")},
        inputs=(Input(key="vectors", name="the word vectors", value=vectors, rows=_WORDS, least=-20, most=20),),
    )
