"""E12: what leaks without a mask."""

import torch
from torch import Tensor

from clearhead.figures import heatmap
from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers, table
from clearhead.nn import AttentionMask, DotScorer, attend
from clearhead.nn.attention.score import Scorer
from clearhead.probe import Edit, Recorder, listen
from clearhead.text.words import split_words

__all__ = ["work"]

_WORDS = tuple(split_words("आप कैसे हैं"))
_ROWS: Table = ((0.8, 0.1, 0.1), (0.15, 0.75, 0.1), (0.1, 0.2, 0.7))


def work(*, rows: Table = _ROWS) -> WorkedExample:
    """Gives attention the scores behind the notes' rows, with and without the causal mask.

    Args:
        rows: The shares of each word, all above 0.
    """
    open_QK, _ = _attend(rows, causal=False)
    closed_QK, _ = _attend(rows, causal=True)
    return WorkedExample(
        key="E12",
        title="The leak: a word that uses words not yet written",
        shows=(
            "In training the whole target is there. Without a mask each word mixes in words after it, which do not "
            "exist yet when the model writes by itself: it learns to copy the answer. The causal mask closes them, "
            "and the rest of each row is shared out anew."
        ),
        results=(
            Result(
                name="without a mask", computed=table(open_QK), printed=_ROWS, rows=_WORDS, columns=_WORDS, digits=2
            ),
            Result(
                name="share that comes from words not yet written",
                computed=numbers(open_QK.triu(1).sum(-1)),
                columns=_WORDS,
                digits=2,
            ),
            Result(name="with the causal mask", computed=table(closed_QK), rows=_WORDS, columns=_WORDS),
            Result(
                name="change of the first word when the last one is replaced, without a mask",
                computed=_change(rows, causal=False),
            ),
            Result(name="and with the causal mask", computed=_change(rows, causal=True)),
        ),
        figures={
            "leak": heatmap(
                torch.stack([open_QK, closed_QK]).numpy(),
                rows=_WORDS,
                columns=_WORDS,
                titles=["without a mask", "with the causal mask"],
                title="The leak",
            )
        },
        inputs=(Input(key="rows", name="the rows", value=rows, rows=_WORDS, columns=_WORDS, least=0.001, most=1),),
    )


def _attend(rows: Table, *, causal: bool, last: float = 1.0) -> tuple[Tensor, Tensor]:
    """Pattern and output when the scores are the logarithms of the notes' rows, whose softmax they are."""
    value_BHKC = torch.eye(len(_WORDS), dtype=torch.float64)[None, None].clone()
    value_BHKC[..., -1, :] *= last
    score_BHQK = torch.tensor(rows, dtype=torch.float64).log()[None, None]
    mask = AttentionMask(n_queries=len(_WORDS), n_keys=len(_WORDS), causal=causal)
    scorer: Scorer = DotScorer()
    recorder = Recorder("pattern")
    with listen(Edit("score", lambda _: score_BHQK), recorder):
        mixed_BHQC = attend(value_BHKC, value_BHKC, value_BHKC, scorer=scorer, mask=mask)
    return recorder["pattern"][0, 0], mixed_BHQC[0, 0]


def _change(rows: Table, *, causal: bool) -> float:
    _, before_QC = _attend(rows, causal=causal)
    _, after_QC = _attend(rows, causal=causal, last=-1.0)
    return float((after_QC[0] - before_QC[0]).abs().max())
