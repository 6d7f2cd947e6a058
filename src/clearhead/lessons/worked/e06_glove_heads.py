"""E6: ten heads over GloVe vectors, digit for digit as a NumPy notebook printed them."""

import json
import math
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.errors import ConfigError
from clearhead.figures import Figure, heatmap
from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers
from clearhead.nn import AttentionMask, DotScorer, attend, merge_heads, split_heads
from clearhead.probe import Recorder, listen

__all__ = ["Heads", "run", "work"]

_SEED = 42
_PRINTED_TEN = (-4.37999318, -1.99506183, -2.05712457, -0.08937276, -1.72769596)
_PRINTED_ONE = (-4.31502585, -3.90981072, -2.11083877, -1.51211468, -1.90636801)


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What one run of the notebook's cell gives."""

    words: tuple[str, ...]
    head_width: int
    pattern_HQK: Float[Tensor, "H Q K"]
    output_TD: Float[Tensor, "T D"]


_DRAWN: Table = ((10, _SEED),)


def work(*, drawn: Table = _DRAWN) -> WorkedExample:
    """Runs both versions of the notebook: ten heads, and one.

    Args:
        drawn: How many heads the first version has, and the seed of its weights.

    Raises:
        ConfigError: Heads that do not divide the width.
    """
    n_heads, seed = (int(one) for one in drawn[0])
    ten, one = run(n_heads=n_heads, seed=seed), run(n_heads=1, n_runs=2)
    return WorkedExample(
        key="E6",
        title="Ten heads over GloVe vectors, digit for digit",
        shows=(
            "Five words, each a published vector of 50 numbers, go through ten heads of width 5 whose weights are "
            "drawn from a fixed seed; no output projection follows. The first five numbers of the first word must "
            "come out exactly as the notebook of the notes printed them, for ten heads and for one head of width 50."
        ),
        results=(
            Result(
                name=f"{_spelt(n_heads)} of width {ten.head_width}: “the”, first five outputs",
                computed=numbers(ten.output_TD[0, :5]),
                printed=_PRINTED_TEN,
                remark=f"A comment in the notebook calls a head 10 wide; 50 over 10 heads are {ten.head_width}.",
                digits=8,
            ),
            Result(
                name=f"one head of width {one.head_width}: “the”, first five outputs",
                computed=numbers(one.output_TD[0, :5]),
                printed=_PRINTED_ONE,
                remark="The notebook's cell had been run twice, so these weights are the second draw after the seed.",
                digits=8,
            ),
        ),
        figures={
            "heads": _picture(ten, f"{_spelt(n_heads).capitalize()} over GloVe vectors"),
            "one-head": _picture(one, "One head"),
        },
        inputs=(
            Input(
                key="drawn",
                name="heads and seed",
                value=drawn,
                columns=("heads", "seed"),
                least=1,
                most=10_000,
                whole=True,
            ),
        ),
    )


def _spelt(n_heads: int) -> str:
    return "ten heads" if n_heads == 10 else "one head" if n_heads == 1 else f"{n_heads} heads"


def run(*, n_heads: int, n_runs: int = 1, seed: int = _SEED) -> Heads:
    """Attention over the five words, with weights drawn as the notebook draws them.

    Args:
        n_heads: Heads; each draws its own three weights.
        n_runs: How often the cell is run after seeding; the last run counts.
        seed: Where the random numbers begin.
    """
    words, vectors_TD = _vectors()
    width = vectors_TD.shape[1]
    if width % n_heads:
        raise ConfigError("heads that do not divide the width", got=n_heads, expected=f"a divisor of {width}")
    # The notebook's generator; the newer one gives other numbers for the same seed.
    generator = np.random.RandomState(seed)
    drawn = np.empty(0)
    for _ in range(n_runs):
        drawn = np.array([[generator.rand(width, width // n_heads) for _ in "qkv"] for _ in range(n_heads)])
    query_BHTC, key_BHTC, value_BHTC = (
        split_heads(torch.tensor(vectors_TD @ np.hstack(list(drawn[:, which])))[None], n_heads) for which in range(3)
    )
    head_width = query_BHTC.shape[-1]
    mask = AttentionMask(n_queries=len(words), n_keys=len(words))
    recorder = Recorder("pattern")
    with listen(recorder):
        scorer = DotScorer(scale=1 / math.sqrt(head_width))
        mixed_BHTC = attend(query_BHTC, key_BHTC, value_BHTC, scorer=scorer, mask=mask)
    return Heads(
        words=words,
        head_width=head_width,
        pattern_HQK=recorder["pattern"][0],
        output_TD=merge_heads(mixed_BHTC)[0],
    )


def _vectors() -> tuple[tuple[str, ...], Float[np.ndarray, "T D"]]:
    """The five words and their vectors (GloVe 6B, 50 dimensions, public domain), in single precision."""
    text = (files("clearhead.lessons") / "data" / "glove_6b_50d_five_words.json").read_text(encoding="utf-8")
    vectors: dict[str, list[float]] = json.loads(text)
    return tuple(vectors), np.array(list(vectors.values()), dtype=np.float32)


def _picture(heads: Heads, title: str) -> Figure:
    title = f"{title}: {' '.join(heads.words)}"
    return heatmap(heads.pattern_HQK.numpy(), rows=heads.words, columns=heads.words, title=title)
