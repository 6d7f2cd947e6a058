"""Sinusoidal positions: computed, never learned."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


class SinusoidalPosition(nn.Module):
    """Waves of many lengths: like binary digits, later dimensions change more slowly.

        position[p, 2i] = sin(p / theta^(2i/D))        position[p, 2i+1] = cos(p / theta^(2i/D))

    (Vaswani et al. 2017, section 3.5.) In halves, all sines come first, then all cosines.
    """

    def __init__(self, *, width: int, theta: float = 10_000.0, halves: bool = False) -> None:
        super().__init__()
        self.width = width
        self.theta = theta
        self.halves = halves
        self._table_TD = torch.empty(0, width, device="cpu")

    def forward(self, positions: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The waves at these places."""
        furthest = int(positions.max()) + 1 if positions.numel() else 0
        table_TD = self._table_TD  # read once: another thread may put its own in place
        if furthest > table_TD.shape[0] or table_TD.device != positions.device:
            # Rows are made in powers of two, so that decoding token by token seldom makes any.
            n_rows = max(256, 1 << (furthest - 1).bit_length())
            table_TD = self._table_TD = self.table(n_rows).to(device=positions.device, dtype=torch.float32)
        return functional.embedding(positions, table_TD)

    def table(self, n_positions: int) -> Float[Tensor, "T D"]:
        """The waves at the first places, in double precision."""
        place_T1 = torch.arange(n_positions, dtype=torch.float64, device="cpu").unsqueeze(1)
        exponents = torch.arange(0, self.width, 2, dtype=torch.float64, device="cpu") / self.width
        angle = place_T1 / self.theta**exponents
        if self.halves:
            return torch.cat([angle.sin(), angle.cos()], dim=-1)
        return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
