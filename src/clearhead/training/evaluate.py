"""How good a network is, in numbers: the loss on what it did not learn from."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from clearhead.models import Network
from clearhead.training.objective import Batch, Objective, to_device
from clearhead.training.seeds import seed_step

Evaluate = Callable[[Network[Any]], Mapping[str, float]]
"""Takes a network that does not drop; gives numbers by name."""

_LARGEST_EXPONENT = 700.0


class LossEvaluation:
    """The loss on held-out batches, and what follows from it.

    Args:
        objective: What is asked; without label smoothing, so that the perplexity is one.
        batches: Gives the batches, the same every time.
        seed: Where random numbers come from, the same every time too.
    """

    def __init__(self, *, objective: Objective, batches: Callable[[], Iterable[Batch]], seed: int = 0) -> None:
        self.objective = objective
        self.batches = batches
        self.seed = seed

    @torch.no_grad()
    def __call__(self, network: Network[Any]) -> dict[str, float]:
        """`loss`, `perplexity`, and `accuracy` where answers can be right."""
        seed_step(self.seed, step=0)
        device = next(network.parameters()).device
        loss_sum, count, n_correct, can_be_right = 0.0, 0, 0, False
        for batch in self.batches():
            parts = self.objective(network, to_device(self.objective.prepare(batch), device))
            loss_sum += float(parts.loss_sum)
            count += parts.count
            if parts.n_correct is not None:
                n_correct, can_be_right = n_correct + int(parts.n_correct), True
        loss = loss_sum / max(1, count)
        metrics = {"loss": loss}
        if can_be_right:
            metrics |= {"perplexity": math.exp(min(loss, _LARGEST_EXPONENT)), "accuracy": n_correct / max(1, count)}
        return metrics
