"""Attention: several heads, cross-attention, what came before, and what it costs."""

import torch

from clearhead.lessons.course.chapter import Chapter, Live, Question, right, wrong
from clearhead.lessons.small_models import encoder_decoder
from clearhead.nn import AdditiveScorer, DotScorer, merge_heads
from clearhead.probe import Recorder, listen


def _concatenated() -> str:
    merged = merge_heads(torch.zeros(1, 8, 3, 64))
    return f"8 heads of 64 for 3 positions, side by side: shape {tuple(merged.shape)}."


def _cross() -> str:
    recorder = Recorder("decoder.0.cross.*")
    with torch.no_grad(), listen(recorder):
        encoder_decoder(vocab_size=9)(torch.tensor([[1, 2, 3, 4, 5, 6]]), torch.tensor([[1, 2, 3]]))
    shapes = {
        name: tuple(recorder[f"decoder.0.cross.{name}"].shape) for name in ("query", "key", "value", "pattern", "mixed")
    }
    return (
        "Six source tokens, three target tokens: "
        + ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        + "."
    )


def _start_looks() -> str:
    recorder = Recorder("decoder.0.cross.pattern")
    with torch.no_grad(), listen(recorder):
        encoder_decoder(vocab_size=9)(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1]]))
    shares = recorder["decoder.0.cross.pattern"][0, 0, 0].tolist()
    return "The start token's shares of the four source positions: " + ", ".join(f"{one:.3f}" for one in shares) + "."


def _additive() -> str:
    additive, dot = AdditiveScorer(n_heads=1, head_width=64), DotScorer(scale=1 / 8)
    counts = [sum(each.numel() for each in one.parameters()) for one in (additive, dot)]
    return f"Weights of its own: additive {counts[0]}, dot product {counts[1]}."


def _cost() -> str:
    found: list[str] = []
    for length in (10, 20, 40):
        recorder = Recorder("encoder.0.self.pattern")
        ids = torch.ones(1, length, dtype=torch.long)
        with torch.no_grad(), listen(recorder):
            encoder_decoder(vocab_size=9)(ids, torch.tensor([[1]]))
        found.append(f"{length} tokens: {recorder['encoder.0.self.pattern'][0, 0].numel():,} cells")
    return ", ".join(found) + " in every head of every layer."


CHAPTERS = (
    Chapter(
        key="B5",
        title="Several heads",
        text=(
            "One pattern can say one thing. Several heads look at once, each with queries, keys and values of its own, "
            "narrower in proportion; their results are laid side by side and mixed by one more matrix.",
        ),
        examples=("E6",),
        live=(Live(view="attention", says="Each small picture is a head. Find one that looks at the token before."),),
        questions=(
            Question(
                key="concatenated",
                text="8 heads of width 64 are laid side by side. How wide is the result?",
                choices=(wrong("64"), right("512"), wrong("72")),
                show=_concatenated,
            ),
        ),
    ),
    Chapter(
        key="B6",
        title="Cross-attention",
        text=(
            "The decoder asks, the encoder's output answers: queries come from the target, keys and values from the source. "
            "There are as many results as queries, however long the source is.",
            "Each query may look at every source position, the very first one too.",
        ),
        examples=("E5", "E10"),
        live=(
            Live(
                view="attention",
                says="Rows are the target so far, columns the source: a translation's alignment.",
                settings={"model": "translator", "text": "I like eating ice cream.", "to": "hi"},
            ),
        ),
        questions=(
            Question(
                key="cross",
                text="Where do queries, keys and values come from in cross-attention?",
                choices=(
                    right("queries from the decoder, keys and values from the encoder"),
                    wrong("all from the encoder"),
                    wrong("queries from the encoder, keys and values from the decoder"),
                ),
                show=_cross,
            ),
            Question(
                key="start-looks",
                text="What can the start token's query look at in cross-attention?",
                choices=(
                    wrong("the first source word alone", "There is no such rule: nothing is masked there."),
                    right("every source position"),
                ),
                show=_start_looks,
            ),
            Question(
                key="outputs",
                text="Six source tokens, three target tokens: how many vectors does cross-attention give?",
                choices=(wrong("6"), right("3", "One for each query."), wrong("18")),
                show=_cross,
            ),
        ),
    ),
    Chapter(
        key="B7",
        title="What came before",
        text=(
            "A recurrent encoder-decoder squeezes a sentence into one vector. Bahdanau's attention let its decoder look "
            "back at every position: score = v · tanh(query + key), a small network instead of a product.",
        ),
        live=(
            Live(
                view="train",
                says="Train a Transformer, an RNN with this attention and one without it on the same letters, watch "
                "all three learn, then open them side by side.",
            ),
        ),
        questions=(
            Question(
                key="additive",
                text="Which scorer has weights of its own?",
                choices=(right("the additive one"), wrong("the dot product", "It multiplies what it is given.")),
                show=_additive,
            ),
        ),
    ),
    Chapter(
        key="B9",
        title="What it costs",
        text=("Every token looks at every other: twice the text, four times the cells.",),
        questions=(
            Question(
                key="cost",
                text="A text becomes twice as long. How many more cells has a pattern?",
                choices=(wrong("2 times"), right("4 times"), wrong("8 times")),
                show=_cost,
            ),
        ),
    ),
)
