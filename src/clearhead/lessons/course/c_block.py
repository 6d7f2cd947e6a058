"""The rest of the block: positions, residuals, norms, feed-forward, output."""

import torch

from clearhead.config import FeedForwardConfig, PositionKind, preset
from clearhead.lessons.course.chapter import Chapter, Live, Question, right, wrong
from clearhead.lessons.small_models import encoder, filled
from clearhead.models import build
from clearhead.nn import BatchNorm, FeedForward, LayerNorm, LearnedPosition, SinusoidalPosition
from clearhead.probe import Recorder, listen


def _order() -> str:
    found: list[float] = []
    for kind in (PositionKind.NONE, PositionKind.SINUSOIDAL):
        model = encoder(vocab_size=9, position=kind)
        with torch.no_grad():
            a = model(torch.tensor([[1, 2, 3]])).hidden_BSD[0, 1]
            b = model(torch.tensor([[3, 2, 1]])).hidden_BSD[0, 1]
        found.append(float((a - b).abs().max()))
    return f"“killed” in “lion killed X” and in “X killed lion” differs by {found[0]:.6f} without positions, by {found[1]:.3f} with them."


def _learned() -> str:
    waves, table = SinusoidalPosition(width=128), LearnedPosition(max_length=50, width=128)
    counts = [sum(each.numel() for each in one.parameters()) for one in (waves, table)]
    return f"Weights for 50 positions of width 128: sinusoids {counts[0]}, a learned table {counts[1]}."


def _bounded() -> str:
    table = SinusoidalPosition(width=128).table(10_000)
    return f"Over 10,000 positions the numbers lie between {float(table.min()):.3f} and {float(table.max()):.3f}."


def _waves() -> str:
    table = SinusoidalPosition(width=128).table(200)
    turns = [int(one) for one in ((table[1:] * table[:-1]) < 0).sum(0)]
    return f"Changes of sign over 200 positions: dimension 0 {turns[0]}, dimension 40 {turns[40]}, dimension 126 {turns[126]}."


def _norm() -> str:
    x = torch.tensor([[2.0, 4.0, 6.0, 8.0]])
    y = filled(lambda: LayerNorm(width=4))(x)
    return f"[2, 4, 6, 8] becomes {[round(one, 3) for one in y[0].tolist()]}: mean {float(y.mean().detach()):.3f}."


def _batch() -> str:
    rows = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    padded = torch.cat([rows, torch.zeros(2, 2)])
    norm = filled(lambda: BatchNorm(width=2))
    alone, beside = norm(rows)[0].tolist(), norm(padded)[0].tolist()
    return f"The first row becomes {[round(one, 3) for one in alone]} by itself, {[round(one, 3) for one in beside]} with two rows of padding."


def _residual() -> str:
    model = build(preset("tiny", architecture="gpt2", vocab_size=9), seed=0)
    recorder = Recorder("decoder.0.resid_*", "decoder.0.*.output")
    with torch.no_grad(), listen(recorder):
        model(torch.tensor([[1, 2]]))
    rest = (
        recorder["decoder.0.resid_post"]
        - recorder["decoder.0.resid_pre"]
        - recorder["decoder.0.self.output"]
        - recorder["decoder.0.ffn.output"]
    )
    return f"resid_post - resid_pre - what attention and feed-forward added: at most {float(rest.abs().max()):.1e}."


def _alone() -> str:
    part = filled(lambda: FeedForward(config=FeedForwardConfig(width=8), width=4))
    x = torch.randn(1, 2, 4, generator=torch.Generator().manual_seed(0))
    other = x.clone()
    other[0, 1] += 5
    with torch.no_grad():
        change = (part(x) - part(other)).abs().amax(-1)[0].tolist()
    return f"The second position changed; results moved by {change[0]:.3f} and {change[1]:.3f}."


def _sizes() -> str:
    part = FeedForward(config=FeedForwardConfig(width=2048), width=512)
    count = sum(each.numel() for each in part.parameters())
    return f"512 → 2048 → 512 has {count:,} weights and biases."


def _softmax() -> str:
    model = build(preset("tiny", architecture="gpt2", vocab_size=10_000), seed=0)
    with torch.no_grad():
        shares = model(torch.tensor([[1, 2, 3]])).logits_BTV.softmax(-1)
    return f"{shares.shape[-1]:,} outputs; they sum to {float(shares[0, -1].sum()):.5f}."


CHAPTERS = (
    Chapter(
        key="C1",
        title="Positions",
        text=(
            "Attention sees a set: without more, “lion killed X” and “X killed lion” are the same to it. So each token is "
            "told where it stands.",
            "A counter would grow without end. Waves of many lengths stay between -1 and 1; like binary digits, later "
            "dimensions change more slowly. They are computed, not learned; tables that are learned, rotations of queries "
            "and keys, and biases by distance serve as well.",
        ),
        examples=("E2",),
        live=(Live(view="whatif", says="Exchange the positions of two words: the same words, told otherwise."),),
        questions=(
            Question(
                key="order",
                text="An encoder without positions reads “lion killed X” and “X killed lion”. Does “killed” get the same vector?",
                choices=(right("yes", "It sees the same set of words."), wrong("no")),
                show=_order,
            ),
            Question(
                key="learned",
                text="Are sinusoidal positions learned?",
                choices=(right("no, they are computed"), wrong("yes", "Learned positions exist too; these are not.")),
                show=_learned,
            ),
            Question(
                key="bounded",
                text="How large can a number of a sinusoidal encoding become at position 10,000?",
                choices=(right("at most 1"), wrong("10,000", "That would be a counter.")),
                show=_bounded,
            ),
            Question(
                key="waves",
                text="Which dimensions of the encoding change fastest from position to position?",
                choices=(right("the first"), wrong("the last", "Those have the longest waves.")),
                show=_waves,
            ),
        ),
    ),
    Chapter(
        key="C2",
        title="Residuals and norms",
        text=(
            "Each part adds to a stream that runs through all blocks. What is added can be small, and the way back for the "
            "gradient is short.",
            "A layer norm centres and scales every position by itself. A batch norm would use the other rows, padding "
            "too, and so a sentence would depend on its neighbours.",
        ),
        examples=("E8",),
        live=(Live(view="whatif", says="Leave a block out: the stream goes on without it."),),
        questions=(
            Question(
                key="residual",
                text="What is the stream after a block, in a model with norms before its parts?",
                choices=(
                    right("what it was, plus what attention and feed-forward gave"),
                    wrong("what feed-forward gave", "Nothing is thrown away."),
                ),
                show=_residual,
            ),
            Question(
                key="norm",
                text="What is the mean of a vector after a fresh layer norm?",
                choices=(right("0"), wrong("1", "That is its deviation."), wrong("what it was")),
                show=_norm,
            ),
            Question(
                key="batch",
                text="Rows of padding are added to a batch. What does a batch norm make of the other rows?",
                choices=(right("other numbers than before"), wrong("the same", "That would be a layer norm.")),
                show=_batch,
            ),
        ),
    ),
    Chapter(
        key="C3",
        title="Feed-forward",
        text=(
            "Between attentions each position is worked on by itself: expanded, bent, contracted. 512 → 2048 → 512.",
        ),
        examples=("E9", "E3"),
        questions=(
            Question(
                key="alone",
                text="The feed-forward network sees two positions, and the second changes. What happens to the first result?",
                choices=(right("nothing"), wrong("it changes", "Only attention carries from position to position.")),
                show=_alone,
            ),
            Question(
                key="sizes",
                text="How many numbers has a feed-forward network 512 → 2048 → 512, biases included?",
                choices=(wrong("1,048,576", "That is one of its two matrices."), right("2,099,712"), wrong("2,560")),
                show=_sizes,
            ),
        ),
    ),
    Chapter(
        key="C5",
        title="The output layer",
        text=(
            "The last vector is compared with every piece of the vocabulary: one logit each, and softmax makes probabilities of them.",
        ),
        live=(
            Live(view="flow", says="The bars are the likeliest pieces; click one to see what its logit is made of."),
        ),
        questions=(
            Question(
                key="softmax",
                text="A vocabulary of 10,000 pieces: how many numbers does the output layer give for a position?",
                choices=(wrong("1"), right("10,000"), wrong("512")),
                show=_softmax,
            ),
        ),
    ),
)
