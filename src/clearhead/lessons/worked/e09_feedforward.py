"""E9: the feed-forward network expands and contracts."""

import torch

from clearhead.config import FeedForwardConfig
from clearhead.lessons.example import Input, Result, Table, WorkedExample, shape
from clearhead.lessons.small_models import filled
from clearhead.nn import FeedForward
from clearhead.probe import Recorder, listen

__all__ = ["work"]


_SIZES: Table = ((3, 512, 2048),)


def work(*, sizes: Table = _SIZES) -> WorkedExample:
    """Sends three positions through a network of the original size, then one of them alone.

    Args:
        sizes: How many words, how wide each is, and how wide it becomes inside.
    """
    n_words, width, inner = (int(one) for one in sizes[0])
    network = filled(lambda: FeedForward(config=FeedForwardConfig(width=inner), width=width))
    x_BTD = torch.linspace(-1, 1, n_words * width).reshape(1, n_words, width)
    recorder = Recorder("hidden", "output")
    with torch.no_grad(), listen(recorder):
        network(x_BTD)
    with torch.no_grad():
        alone_BTD = network(x_BTD[:, 1:2])
    hidden_BTF, output_BTD = recorder["hidden"], recorder["output"]
    n_parameters = sum(parameter.numel() for parameter in network.parameters())
    return WorkedExample(
        key="E9",
        title=f"The feed-forward network: {width} → {inner} → {width}",
        shows=(
            "Every position goes through the same two matrices on its own: it is made wider, negative "
            "numbers become 0, and it is brought back to its width."
        ),
        results=(
            Result(name="shape of the input", computed=shape(x_BTD[0]), printed="(3, 512)"),
            Result(name="shape of the first matrix", computed=shape(network.up.weight.mT), printed="(512, 2048)"),
            Result(name="shape of the hidden layer", computed=shape(hidden_BTF[0]), printed="(3, 2048)"),
            Result(name="shape of the second matrix", computed=shape(network.down.weight.mT), printed="(2048, 512)"),
            Result(name="shape of the output", computed=shape(output_BTD[0]), printed="(3, 512)"),
            Result(name="parameters", computed=n_parameters),
            Result(name="share of hidden numbers that ReLU made 0", computed=float((hidden_BTF == 0).double().mean())),
            Result(
                name="largest change when the second position goes alone",
                computed=float((alone_BTD - output_BTD[:, 1:2]).abs().max()),
                remark="No position sees another here; only attention moves anything between them.",
            ),
        ),
        inputs=(
            Input(
                key="sizes",
                name="the sizes",
                value=sizes,
                columns=("words", "width", "inside"),
                least=2,
                most=4096,
                whole=True,
            ),
        ),
    )
