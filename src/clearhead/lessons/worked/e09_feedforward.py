"""E9: the feed-forward network expands and contracts."""

import torch

from clearhead.config import FeedForwardConfig
from clearhead.lessons.example import Result, WorkedExample, shape
from clearhead.lessons.small_models import filled
from clearhead.nn import FeedForward
from clearhead.probe import Recorder, listen

__all__ = ["work"]


def work() -> WorkedExample:
    """Sends three positions through a network of the original size, then one of them alone."""
    network = filled(lambda: FeedForward(config=FeedForwardConfig(width=2048), width=512))
    x_BTD = torch.linspace(-1, 1, 3 * 512).reshape(1, 3, 512)
    recorder = Recorder("hidden", "output")
    with torch.no_grad(), listen(recorder):
        network(x_BTD)
    with torch.no_grad():
        alone_BTD = network(x_BTD[:, 1:2])
    hidden_BTF, output_BTD = recorder["hidden"], recorder["output"]
    n_parameters = sum(parameter.numel() for parameter in network.parameters())
    return WorkedExample(
        key="E9",
        title="The feed-forward network: 512 → 2048 → 512",
        shows=(
            "Every position goes through the same two matrices on its own: it is made four times as wide, negative "
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
    )
