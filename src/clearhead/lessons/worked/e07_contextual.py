"""E7: from static to contextual vectors."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clearhead.figures import heatmap
from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers, table
from clearhead.nn import AttentionMask, DotScorer, attend
from clearhead.probe import Edit, listen
from clearhead.text.document_vectors import DocumentVectors, one_hot

__all__ = ["work"]

_MONEY, _RIVER = ("money", "bank", "grows"), ("river", "bank", "flows")
_VOCABULARY = ("money", "river", "bank", "grows", "flows")
_FIRST_MONEY: Table = ((0.2, 0.7, 0.1),)
_FIRST_RIVER: Table = ((0.5, 0.4, 0.1),)
_FULL_MONEY: Table = ((0.7, 0.2, 0.1), (0.25, 0.7, 0.05), (0.1, 0.2, 0.7))
_FULL_RIVER: Table = ((0.8, 0.15, 0.05), (0.2, 0.78, 0.02), (0.4, 0.01, 0.59))
_KING, _QUEEN = (0.6, 0.1, 1.0, 0.9), (0.3, 0.2, 0.9, 1.0)
_APPLE, _FRUITY_APPLE = (0.8, 0.1), (0.9, 0.1)


def work(*, money: Table = _FULL_MONEY, river: Table = _FULL_RIVER) -> WorkedExample:
    """Puts the notes' patterns into attention and sees what becomes of "bank".

    Args:
        money: Who takes how much of whom in “money bank grows”.
        river: The same in “river bank flows”.
    """
    first_money_TV, first_river_TV = _mix(_MONEY, _FIRST_MONEY), _mix(_RIVER, _FIRST_RIVER)
    money_TV, river_TV = _mix(_MONEY, money), _mix(_RIVER, river)
    static = _static(_MONEY)[1], _static(_RIVER)[1]
    king_D, queen_D = torch.tensor(_KING), torch.tensor(_QUEEN)
    places = [" · ".join(dict.fromkeys(pair)) for pair in zip(_MONEY, _RIVER, strict=True)]
    sums = numbers(torch.cat([money_TV, river_TV]).sum(-1))
    return WorkedExample(
        key="E7",
        title="One “bank” becomes two: static and contextual vectors",
        shows=(
            "A static vector is the same in every sentence. The notes give the shares by which each word becomes a "
            "mix of its sentence; put into attention as its pattern, they make two different vectors of one “bank”. "
            "Static vectors are one-hot here, so that a mix can be read off."
        ),
        results=(
            _shares("“bank” near money, first version", first_money_TV, _MONEY, _FIRST_MONEY, ("bank",)),
            _shares("“bank” near a river, first version", first_river_TV, _RIVER, _FIRST_RIVER, ("bank",)),
            _shares("money bank grows", money_TV, _MONEY, _FULL_MONEY, _MONEY),
            _shares("river bank flows", river_TV, _RIVER, _FULL_RIVER, _RIVER),
            Result(name="sums of the six rows", computed=sums, digits=2),
            Result(name="cosine of the two static “bank”s", computed=_cosine(*static)),
            Result(name="cosine of the two contextual “bank”s", computed=_cosine(money_TV[1], river_TV[1])),
            Result(name="cosine of the notes' king and queen", computed=_cosine(king_D, queen_D)),
            Result(
                name="“apple” on [taste, technology], 9,000 of 10,000 sentences about the fruit",
                computed=_apple(n_fruit=9_000, n_sentences=10_000),
                printed=_FRUITY_APPLE,
                remark=f"Before that the notes draw {list(_APPLE)}: one vector must serve the fruit and the phone.",
                digits=1,
            ),
        ),
        figures={
            "two-banks": heatmap(
                np.array([money, river]),
                rows=places,
                columns=places,
                titles=[" ".join(_MONEY), " ".join(_RIVER)],
                title="The same word, two patterns",
            )
        },
        inputs=(
            Input(key="money", name=" ".join(_MONEY), value=money, rows=_MONEY, columns=_MONEY, least=0, most=1),
            Input(key="river", name=" ".join(_RIVER), value=river, rows=_RIVER, columns=_RIVER, least=0, most=1),
        ),
    )


def _shares(name: str, mixed_TV: Tensor, words: tuple[str, ...], printed: Table, rows: tuple[str, ...]) -> Result:
    """How much of each word of its sentence a mix holds."""
    columns = [_VOCABULARY.index(word) for word in words]
    return Result(name=name, computed=table(mixed_TV[:, columns]), printed=printed, rows=rows, columns=words, digits=2)


def _mix(words: tuple[str, ...], given: Table) -> Tensor:
    """What attention makes of a sentence when its pattern is the given one."""
    static_KV = _static(words)
    pattern_BHQK = torch.tensor(given, dtype=torch.float64)[None, None]
    n_queries = pattern_BHQK.shape[2]
    mask = AttentionMask(n_queries=n_queries, n_keys=len(words))
    x_BHKC = static_KV[None, None]
    with listen(Edit("pattern", lambda _: pattern_BHQK)):
        return attend(x_BHKC[:, :, :n_queries], x_BHKC, x_BHKC, scorer=DotScorer(), mask=mask)[0, 0]


def _static(words: tuple[str, ...]) -> Tensor:
    return torch.tensor(one_hot(words, vocabulary=_VOCABULARY))


def _cosine(a: Tensor, b: Tensor) -> float:
    return float(functional.cosine_similarity(a, b, dim=0))


def _apple(*, n_fruit: int, n_sentences: int) -> tuple[float, ...]:
    """The mean count of each meaning beside "apple"."""
    sentences = ["apple taste"] * n_fruit + ["apple technology"] * (n_sentences - n_fruit)
    counts = DocumentVectors(documents=sentences, vocabulary=["taste", "technology"])
    return tuple(counts.matrix.mean(axis=0).tolist())
