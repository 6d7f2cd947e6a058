"""The feed-forward network: every position on its own, expanded, bent, contracted."""

from jaxtyping import Float
from torch import Tensor, nn

from clearhead.config import FeedForwardConfig
from clearhead.nn.activation import ACTIVATIONS
from clearhead.nn.product import Linear
from clearhead.probe import probe


class FeedForward(nn.Module):
    """Two linear maps with a bend between them.

    hidden = activation(x up)                    output = hidden down        (Vaswani et al. 2017, eq. 2)
    hidden = activation(x gate) * (x up)         gated, with silu: swiglu    (Shazeer 2020)
    """

    def __init__(self, *, config: FeedForwardConfig, width: int) -> None:
        super().__init__()
        self.up = Linear(width, config.width, bias=config.bias)
        self.gate = Linear(width, config.width, bias=config.bias) if config.gated else None
        self.down = Linear(config.width, width, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_BTD: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """What the network adds to every position."""
        if self.gate is None:
            hidden_BTF = self.activation(self.up(x_BTD))
        else:
            hidden_BTF = self.activation(self.gate(x_BTD)) * self.up(x_BTD)
        hidden_BTF = self.dropout(probe("hidden", hidden_BTF))
        return probe("output", self.down(hidden_BTF))
