"""A step function with no model behind it: the logits of the next id depend on the last id alone."""

import torch
from torch import Tensor


class TableStepper:
    """Looks logits up by the last id, and takes note of what is asked of it."""

    def __init__(self, table_VV: Tensor, prompts: list[tuple[int, ...]]) -> None:
        self.table_VV = table_VV
        self.last_B = torch.tensor([prompt[-1] for prompt in prompts])
        self.sizes: list[int] = []

    def start(self) -> Tensor:
        self.sizes.append(len(self.last_B))
        return self.table_VV[self.last_B]

    def step(self, ids_B: Tensor) -> Tensor:
        assert ids_B.shape == self.last_B.shape
        self.last_B = ids_B
        return self.start()

    def select(self, rows_B: Tensor) -> None:
        assert rows_B.dtype == torch.long
        self.last_B = self.last_B[rows_B]


def random_table(size: int, seed: int = 0) -> Tensor:
    return torch.randn(size, size, generator=torch.Generator().manual_seed(seed)) * 2
