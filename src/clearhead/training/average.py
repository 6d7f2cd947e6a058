"""Averages of weights: smoother than any single step, and mostly better.

average ← average + (1 - decay) · (weights - average)        decay grows to its value as 1 - 1/step does
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from clearhead.training.distributed.pieces import piece

_SLOWNESS = 10
"""Steps over which a young average forgets its first values, which were random."""


class MovingAverage:
    """A second copy of a network's parameters, which follows the first.

    Args:
        network: Whose parameters to follow.
        decay: How slowly it forgets, in the long run.
    """

    def __init__(self, *, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self._parameters = dict(network.named_parameters())
        self.tensors = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Takes in the weights after a step."""
        decay = min(self.decay, (1 + step) / (_SLOWNESS + step))
        for name, parameter in self._parameters.items():
            self.tensors[name].lerp_(parameter.detach(), 1 - decay)

    @torch.no_grad()
    def set_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Goes on from an average that was saved."""
        assert tensors.keys() == self.tensors.keys(), "an average of another network"
        for name, tensor in self.tensors.items():
            tensor.copy_(piece(tensors[name], tensor))


@contextmanager
def wearing(network: nn.Module, tensors: Mapping[str, Tensor] | None) -> Generator[None]:
    """Lets a network have other weights until the block ends; its own come back to the bit."""
    if tensors is None:
        yield
        return
    own: dict[str, Tensor] = {}
    for name, parameter in network.named_parameters():
        own[name] = parameter.data
        parameter.data = tensors[name]
    try:
        yield
    finally:
        for name, parameter in network.named_parameters():
            parameter.data = own[name]


def mean_of(snapshots: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several sets of weights."""
    assert snapshots
    return {
        name: torch.stack([snapshot[name].double() for snapshot in snapshots]).mean(0).to(tensor.dtype)
        for name, tensor in snapshots[0].items()
    }
