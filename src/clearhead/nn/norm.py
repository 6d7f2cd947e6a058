"""Norms: what keeps the residual stream in bounds."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from clearhead.config import NormConfig, NormKind


class LayerNorm(nn.Module):
    """Centres and scales every position on its own.

        y = (x - mean(x)) / sqrt(var(x) + epsilon) * weight + bias        (Ba et al. 2016)

    The mean and the variance are taken over the width, so that neither the batch nor its padding matters.
    """

    def __init__(self, *, width: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... D"]:
        """The normalised vectors."""
        return functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)


class RMSNorm(nn.Module):
    """Scales every position on its own, without centring it.

    y = x / sqrt(mean(x²) + epsilon) * weight        (Zhang and Sennrich 2019)
    """

    def __init__(self, *, width: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... D"]:
        """The scaled vectors."""
        return functional.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class BatchNorm(nn.Module):
    """Centres and scales every feature over the batch: the norm that Transformers do not use.

        y = (x - mean_B(x)) / sqrt(var_B(x) + epsilon) * weight + bias        (Ioffe and Szegedy 2015)

    Every row, padding too, moves the mean and the variance of all others; kept here to show that.
    """

    def __init__(self, *, width: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, x_BD: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
        """The normalised rows, by the statistics of this very batch."""
        return functional.batch_norm(x_BD, None, None, self.weight, self.bias, training=True, eps=self.epsilon)


def make_norm(config: NormConfig, *, width: int) -> LayerNorm | RMSNorm:
    """The norm that a configuration asks for."""
    kind = LayerNorm if config.kind is NormKind.LAYER else RMSNorm
    return kind(width=width, epsilon=config.epsilon)
