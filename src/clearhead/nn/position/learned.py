"""Learned positions: a table with one row a place."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from clearhead.errors import TextError


class LearnedPosition(nn.Module):
    """A table with one row a place, trained like any other weight.

    position = weight[place]
    """

    def __init__(self, *, max_length: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_length, width))

    def forward(self, positions: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The rows of these places.

        Raises:
            TextError: A place beyond the last row.
        """
        try:
            return functional.embedding(positions, self.weight)
        except IndexError:
            raise TextError(
                "the text is longer than the model's learned positions",
                got=f"{int(positions.max()) + 1} tokens",
                expected=f"at most {self.weight.shape[0]}",
                advice="shorter pieces of text, or a model with rotary, relative or sinusoidal positions",
            ) from None
