"""Attention without weights, and attention as movement: what a word takes from those around it."""

import torch

from clearhead.explain import word_similarity
from clearhead.lessons.course.chapter import Chapter, Live, Question, right, wrong
from clearhead.lessons.worked import EXAMPLES
from clearhead.model import load
from clearhead.nn import AttentionMask, DotScorer, attend

_CREATURES = ("The fluffy blue creature roamed the forest.", "The angry old creature roamed the forest.")


def _without_weights() -> str:
    pattern = EXAMPLES["E1"]()["pattern of “cat”"].computed
    assert isinstance(pattern, tuple)
    shares = ", ".join(f"{share:.3f}" for share in pattern if not isinstance(share, tuple))
    return f"“cat” in “The cat sat on the mat”, from vectors alone: {shares}."


def _symmetric() -> str:
    x_BHTC = torch.tensor([[[[1.0, 0.0], [0.5, 1.0], [0.0, 2.0]]]])
    product = DotScorer()(x_BHTC, x_BHTC)[0, 0]
    same = bool(torch.equal(product, product.mT))
    mask = AttentionMask(n_queries=3, n_keys=3)
    mixed = attend(x_BHTC, x_BHTC, x_BHTC, scorer=DotScorer(), mask=mask)
    first = [float(number) for number in mixed[0, 0, 0]]
    return f"Scores without weights equal their transpose: {same}. The first word becomes {first}."


def _moved() -> str:
    found = word_similarity(load("reader-meaning").loaded, *_CREATURES, word="creature")
    return "Cosine of the two “creature”s: " + ", ".join(
        f"{'embedding' if place == 0 else f'layer {place - 1}'} {value:.3f}" for place, (_, value) in enumerate(found)
    )


CHAPTERS = (
    Chapter(
        key="B2",
        title="Attention without weights",
        text=(
            "Take the word vectors themselves as queries, keys and values. Each word is compared with all by a dot "
            "product, softmax makes shares of the scores, and the word becomes the mix: “bank” beside “river” takes "
            "some of “river”.",
            "Nothing is learned here, so that a word looks most at words like itself. With matrices W_Q, W_K and W_V "
            "before it, a model learns what to look for, what to be found by, and what to hand over.",
        ),
        examples=("E1", "E7"),
        questions=(
            Question(
                key="without-weights",
                text="Without weights, which word gets the largest share of “cat”?",
                choices=(
                    right("“cat” itself", "No vector matches it better here."),
                    wrong("“The”"),
                    wrong("all the same", "Only equal scores give equal shares."),
                ),
                show=_without_weights,
            ),
            Question(
                key="symmetric",
                text="Why does a model learn W_Q and W_K instead of comparing the vectors themselves?",
                choices=(
                    right("so that a may look at b without b looking at a", "Without them the scores are symmetric."),
                    wrong("to have fewer numbers", "There are more."),
                    wrong("because softmax needs them"),
                ),
                show=_symmetric,
            ),
        ),
    ),
    Chapter(
        key="B8",
        title="Attention moves vectors",
        text=(
            "A vector is a place. “creature” begins at the same place in every sentence; then “fluffy” and “blue” move "
            "it, layer by layer, to where fluffy blue creatures are. In the same way “river” moves “bank” towards sand, "
            "and a teller moves it towards money.",
        ),
        live=(
            Live(
                view="attention",
                says="Which words does “creature” take from? Choose another head, or write other adjectives.",
                settings={"model": "reader-meaning", "text": _CREATURES[0]},
            ),
        ),
        questions=(
            Question(
                key="moved",
                text="“creature” with other adjectives before it: where do its two vectors differ most?",
                choices=(
                    wrong("at the embedding", "There they are as alike as a word is to itself at two places."),
                    right("after attention has mixed in its neighbours"),
                    wrong("nowhere", "Then the adjectives would have no effect."),
                ),
                show=_moved,
            ),
        ),
    ),
)
