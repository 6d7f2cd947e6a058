"""The gradient of a batch, found by several threads that have rows of their own.

Where every operation is shared out, threads wait for each other after each of them, and where there is work for one
alone. Here each takes its rows from the first layer to the last gradient, and they meet once a batch: as several
processes would, but with one copy of the weights and nothing to send.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from clearhead.engine.side_by_side import pays, side_by_side
from clearhead.models import Network, Recurrent
from clearhead.nn import Attention
from clearhead.probe import present
from clearhead.training.dropout import drawing_from
from clearhead.training.objective import Batch, Objective
from clearhead.training.seeds import step_seed

_MOST_NUMBERS = 2**26
"""Numbers of a network up to which threads have rows of their own: each has a whole gradient of its own, too."""


class ByRows:
    """Finds the gradient of batches by several threads, where that is possible.

    Args:
        network: What learns.
        objective: What is asked of it.
    """

    def __init__(self, *, network: Network[Any], objective: Objective) -> None:
        self._network = network
        self._objective = objective
        self._parameters = [each for each in network.parameters() if each.requires_grad]
        # What torch drops itself comes from one generator, in the order in which threads happen to ask; and a recurrent
        # network makes so many small calls that its threads would wait for Python.
        drops = any(isinstance(each, Attention) and each.dropout > 0 for each in network.modules())
        small = sum(each.numel() for each in self._parameters) <= _MOST_NUMBERS
        self._can = objective.by_row and small and not drops and not isinstance(network, Recurrent)
        self._chances: Sequence[torch.Generator] = ()

    def begin(self, seed: int, *, step: int) -> None:
        """Begins a step, in which each thread drops what the process of its number would."""
        n_parts = torch.get_num_threads() if self._can and pays(torch.get_num_threads()) else 1
        seeds = [step_seed(seed, step=step, rank=part) for part in range(n_parts)]
        self._chances = [torch.Generator().manual_seed(each) for each in seeds]

    def divides(self, batch: Batch) -> bool:
        """Whether there are rows for several threads; whoever listens hears a batch as a whole."""
        return 1 < len(self._chances) <= min(map(len, batch.values())) and not present()

    def backward(self, batch: Batch, divisor: float) -> tuple[float, int]:
        """Adds the gradient of a batch's loss, divided, to those of the parameters.

        Returns:
            The summed loss, and how many answers were right.
        """
        n_parts = len(self._chances)

        def work(part: int, _: Callable[[], bool]) -> tuple[float, int, Sequence[Tensor | None]]:
            rows = {name: tensor[part::n_parts] for name, tensor in batch.items()}
            with drawing_from(self._chances[part]):
                asked = self._objective(self._network, rows)
            gradients = self._gradients(asked.loss_sum / divisor, is_first=part == 0)
            return float(asked.loss_sum.detach()), 0 if asked.n_correct is None else int(asked.n_correct), gradients

        found = side_by_side(work, range(n_parts), cancelled=lambda: False)
        for *_, gradients in found[1:]:  # in the order of the parts, whichever came first
            for parameter, gradient in zip(self._parameters, gradients, strict=True):
                _add(parameter, gradient)
        return sum(loss for loss, *_ in found), sum(n_correct for _, n_correct, _ in found)

    def _gradients(self, loss: Tensor, *, is_first: bool) -> Sequence[Tensor | None]:
        """The gradients of a part; those of the first are added at once, for the others come after them anyway."""
        if not is_first:
            return torch.autograd.grad(loss, self._parameters, allow_unused=True)
        torch.autograd.backward(loss)
        return ()


def _add(parameter: Tensor, gradient: Tensor | None) -> None:
    if gradient is None:
        return
    if parameter.grad is None:
        parameter.grad = gradient.clone()
    else:
        parameter.grad.add_(gradient)
