"""Attention: lookup, scores, scale and mask."""

import torch

from clearhead.config import AttentionConfig, preset
from clearhead.lessons.course.chapter import Chapter, Live, Question, right, wrong
from clearhead.lessons.small_models import encoder_decoder
from clearhead.models import DecoderOnly, build
from clearhead.nn import Attention, AttentionMask, DotScorer, attend, split_heads
from clearhead.probe import Recorder, listen


def _lookup() -> str:
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).view(1, 1, 2, 2)
    value = torch.tensor([[10.0, 0.0], [0.0, 20.0]]).view(1, 1, 2, 2)
    query = torch.tensor([[4.0, 0.0]]).view(1, 1, 1, 2)
    recorder = Recorder("pattern")
    with listen(recorder):
        mixed = attend(query, key, value, scorer=DotScorer(), mask=AttentionMask(n_queries=1, n_keys=2))
    shares = recorder["pattern"][0, 0, 0].tolist()
    found = [round(float(one), 2) for one in mixed[0, 0, 0]]
    return f"Shares {shares[0]:.3f} and {shares[1]:.3f}: it brings back {found}."


def _rows() -> str:
    recorder = Recorder("encoder.0.self.pattern")
    with torch.no_grad(), listen(recorder):
        encoder_decoder(vocab_size=9)(torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2]]))
    sums = recorder["encoder.0.self.pattern"].sum(-1).flatten().tolist()
    return "The rows of a real pattern sum to " + ", ".join(f"{one:.4f}" for one in sums) + "."


def _variance() -> str:
    generator = torch.Generator().manual_seed(0)
    found: list[str] = []
    for width in (4, 64, 512):
        a, b = (torch.randn(4000, width, generator=generator) for _ in range(2))
        dots = (a * b).sum(-1)
        found.append(f"width {width}: {float(dots.var()):.0f} → {float((dots / width**0.5).var()):.2f}")
    return "Variance of dot products, plain → divided by √width: " + "; ".join(found) + "."


def _saturated() -> str:
    scores = torch.tensor([8.0, 0.0, -8.0])
    plain, divided = (float(one.softmax(-1).max()) for one in (scores, scores / 8))
    return f"softmax of [8, 0, -8]: greatest {plain:.4f}; divided by 8: {divided:.4f}."


def _sees() -> str:
    mask = AttentionMask(n_queries=5, n_keys=5, causal=True).open
    assert mask is not None
    return f"Keys open to each of 5 positions: {[int(one) for one in mask[0, 0].sum(-1)]}."


def _leak() -> str:
    model = build(preset("tiny", architecture="gpt2", vocab_size=30), seed=0)
    assert isinstance(model, DecoderOnly)
    recorder = Recorder("logits")
    for ids in ([3, 4, 5, 6], [3, 4, 5, 9]):
        with torch.no_grad(), listen(recorder):
            model(torch.tensor([ids]))
    first, second = recorder.history["logits"]
    changes = (first - second).abs().amax(-1)[0].tolist()
    return (
        "The last token changed; the logits of the four positions moved by "
        + ", ".join(f"{one:.3f}" for one in changes)
        + "."
    )


def _head_width() -> str:
    found: list[str] = []
    for width, heads in ((512, 8), (50, 10)):
        part = Attention(config=AttentionConfig(n_heads=heads), width=width, head_width=width // heads)
        with torch.no_grad():
            key = split_heads(part.key(torch.zeros(1, 1, width)), heads)
        found.append(f"width {width}, {heads} heads: keys of {key.shape[-1]}")
    return "; ".join(found) + ", whatever a comment says."


CHAPTERS = (
    Chapter(
        key="B1",
        title="Attention is a soft lookup",
        text=(
            "A dictionary finds the entry whose key equals the query. Attention compares the query with every key, turns "
            "the comparisons into shares that sum to 1, and brings back all values, each by its share.",
        ),
        examples=("E1",),
        questions=(
            Question(
                key="lookup",
                text="What decides how much of a value is taken?",
                choices=(
                    right("how well the query matches that value's key"),
                    wrong("the size of the value", "The value has no say in it."),
                    wrong("its position", "Only as far as positions are part of queries and keys."),
                ),
                show=_lookup,
            ),
            Question(
                key="rows",
                text="What does a row of a pattern sum to?",
                choices=(
                    right("1"),
                    wrong("the number of keys"),
                    wrong("anything", "Scores may; softmax makes shares of them."),
                ),
                show=_rows,
            ),
        ),
    ),
    Chapter(
        key="B3",
        title="Why √d_k",
        text=(
            "The product of two random vectors spreads with their width: its variance is the width. Large scores make "
            "softmax nearly a choice of one, whose gradient is nearly nothing. Dividing by the square root of the width "
            "undoes the spread.",
            "d_k is the width of one head's keys, not that of the model's input.",
        ),
        examples=("E11",),
        live=(
            Live(
                view="whatif", says="Move the factor of the scores: patterns sharpen or flatten, and the text changes."
            ),
        ),
        questions=(
            Question(
                key="variance",
                text="Queries and keys of 64 random numbers with variance 1: what is the variance of their products?",
                choices=(wrong("1"), wrong("8", "That is the standard deviation."), right("64")),
                show=_variance,
            ),
            Question(
                key="saturated",
                text="What does softmax make of scores 8, 0, -8?",
                choices=(
                    right("almost a choice of the first"),
                    wrong("even shares"),
                    wrong("negative shares", "Shares are never negative."),
                ),
                show=_saturated,
            ),
            Question(
                key="d-k",
                text="A model of width 512 has 8 heads. What is d_k?",
                choices=(wrong("512", "That is the width of the input."), right("64"), wrong("8")),
                show=_head_width,
            ),
        ),
    ),
    Chapter(
        key="B4",
        title="The mask",
        text=(
            "When a model learns to predict the next token, all positions are computed at once. Position t must not see "
            "what comes after it, or it would copy the answer. The mask closes those keys before softmax.",
        ),
        examples=("E4", "E12"),
        live=(Live(view="whatif", says="Open the causal mask and see what a trained decoder makes of it."),),
        questions=(
            Question(
                key="sees",
                text="How many keys does the third of five positions see under a causal mask?",
                choices=(wrong("2", "It sees itself too."), right("3"), wrong("5")),
                show=_sees,
            ),
            Question(
                key="leak",
                text="Why is the future masked in training?",
                choices=(
                    right("because the answer would leak into the question"),
                    wrong("to save time", "It saves some, but that is not why."),
                    wrong("because the future is not known", "In training it is: that is the trouble."),
                ),
                show=_leak,
            ),
        ),
    ),
)
