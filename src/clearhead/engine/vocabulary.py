"""The output layer of a network that is made to run."""

from jaxtyping import Float
from torch import Tensor, nn

from clearhead.probe import probe


class VocabularyProduct(nn.Module):
    """Stands in for the output layer, whose weights may be the token table's.

    Args:
        product: The layer that multiplies.
        scale: What vectors are multiplied by before.
    """

    def __init__(self, *, product: nn.Module, scale: float) -> None:
        super().__init__()
        self.product = product
        self.scale = scale

    def forward(self, hidden_BTD: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The logits of every position."""
        hidden_BTD = hidden_BTD if self.scale == 1.0 else hidden_BTD * self.scale
        return probe("logits", self.product(hidden_BTD))
