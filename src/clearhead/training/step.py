"""One step: batches to gradients to weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearhead.engine.kernels.quick_products import quick_products
from clearhead.errors import TrainingError
from clearhead.models import Network
from clearhead.nn.product import Products, multiplied_by
from clearhead.training.by_rows import ByRows
from clearhead.training.distributed.placed import place
from clearhead.training.dropout import set_dropout
from clearhead.training.flops import cost_of
from clearhead.training.objective import IDLE, Batch, Objective, to_device
from clearhead.training.optimiser import clip, make_optimiser, set_rate
from clearhead.training.schedule import rate_at
from clearhead.training.seeds import seed_step
from clearhead.training.settings import TrainSettings
from clearhead.training.state import Tally
from clearhead.training.still import clear_still
from clearhead.training.world import World

LARGEST_LOSS = 1000.0
"""A mean loss beyond this is a model that went astray, though its numbers are still finite."""

_WORTH_COMPILING = 2**20
"""Numbers of matrices from which on products by kernels are worth the seconds that they take to compile, once."""
_MATRIX = 2


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """What a step saw.

    Attributes:
        loss_sum: The summed loss over all processes, as all that is counted, before the step.
        count: What it is summed over.
        n_correct: How many answers were right.
        n_tokens: Real tokens.
        flops: Operations that went into the model.
        gradient_norm: The length of the gradient, before it was clipped.
        lr: The learning rate.
    """

    loss_sum: float
    count: int
    n_correct: int
    n_tokens: int
    flops: float
    gradient_norm: float
    lr: float

    def add_to(self, tally: Tally) -> None:
        """Adds what was seen to what was seen before."""
        tally.loss_sum += self.loss_sum
        tally.count += self.count
        tally.n_correct += self.n_correct
        tally.n_tokens += self.n_tokens
        tally.flops += self.flops
        tally.gradient_norm = max(tally.gradient_norm, self.gradient_norm)


class Stepper:
    """Makes steps; the same step of the same batches and weights is the same to the bit.

    Args:
        network: What learns.
        objective: What is asked of it.
        settings: How.
        world: Which process this is.
    """

    def __init__(self, *, network: Network[Any], objective: Objective, settings: TrainSettings, world: World) -> None:
        self.network = network
        self.objective = objective
        self.settings = settings
        self.world = world
        set_dropout(network, settings.dropout)
        self._cost = cost_of(network)
        self.placed = place(network, objective, world)
        self.optimiser = make_optimiser(network, settings=settings.optimiser, lr=settings.lr)
        self._device = next(network.parameters()).device
        alone = world.is_alone and self._device.type == "cpu"
        self._products = _products(network) if self._device.type == "cpu" else None
        self._rows = ByRows(network=network, objective=objective) if alone else None

    def step(self, number: int, batches: Sequence[Batch], *, n_steps: int | None) -> StepResult:
        """Makes one step.

        Args:
            number: The number of the step, from 1.
            batches: What it sees.
            n_steps: Steps of the run, where that is known.

        Raises:
            TrainingError: The loss or the gradient is no finite number; the weights are those from before.
        """
        with multiplied_by(self._products):
            return self._step(number, batches, n_steps=n_steps)

    def _step(self, number: int, batches: Sequence[Batch], *, n_steps: int | None) -> StepResult:
        # 1. Random numbers that depend on the step alone, and on the process where there are several.
        seed_step(self.settings.seed, step=number, rank=self.world.rank)
        if self._rows is not None:
            self._rows.begin(self.settings.seed, step=number)
        self.network.train()
        prepared = [self.objective.prepare(batch) for batch in batches]
        counts = [0 if IDLE in batch else self.objective.count(batch) for batch in prepared]
        (count,) = self.world.sums(sum(counts))
        total = max(1.0, float(count))

        # 2. The gradient of the mean over everything that the step asks.
        self.optimiser.zero_grad(set_to_none=True)
        loss_sum, n_correct = 0.0, 0
        for number_here, batch in enumerate(prepared, 1):
            loss, n_right = self._backward(batch, total, is_last=number_here == len(prepared))
            loss_sum, n_correct = loss_sum + loss, n_correct + n_right
        clear_still(self.network)
        tokens = [(0, 0) if IDLE in batch else self.objective.n_tokens(batch) for batch in prepared]
        flops = sum(map(self._flops, prepared, tokens))
        loss_sum, *whole_numbers, flops = self.world.sums(loss_sum, n_correct, sum(map(sum, tokens)), flops)

        # 3. A step along it, unless it leads nowhere.
        gradient_norm = clip(self.network.parameters(), longest=self.settings.optimiser.clip_norm)
        _check(number, loss_sum / total, gradient_norm, self.settings.lr)
        lr = self.settings.lr * rate_at(number, schedule=self.settings.schedule, n_steps=n_steps)
        set_rate(self.optimiser, lr)
        self.optimiser.step()

        return StepResult(
            loss_sum=loss_sum,
            count=int(count),
            n_correct=int(whole_numbers[0]),
            n_tokens=int(whole_numbers[1]),
            flops=flops,
            gradient_norm=gradient_norm,
            lr=lr,
        )

    def _backward(self, batch: Batch, total: float, *, is_last: bool) -> tuple[float, int]:
        if self._rows is not None and self._rows.divides(batch):
            return self._rows.backward(batch, total)
        is_idle = IDLE in batch
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._device.type != "cpu"):
            loss_sum, n_correct = self.placed.ask(to_device(batch, self._device), is_last=is_last)
        # Several processes take the mean of their gradients.
        torch.autograd.backward(loss_sum * 0.0 if is_idle else loss_sum / (total / self.world.n_ranks))
        return (0.0, 0) if is_idle else (float(loss_sum.detach()), 0 if n_correct is None else int(n_correct))

    def _flops(self, batch: Batch, tokens: tuple[int, int]) -> float:
        n_rows = len(next(iter(batch.values())))
        return self._cost.flops(n_source=tokens[0], n_target=tokens[1], n_rows=n_rows)


def _products(network: nn.Module) -> Products | None:
    """Who multiplies, by the size of the network and what is installed, so that a run that goes on does as it did."""
    numbers = sum(each.numel() for each in network.parameters() if each.ndim == _MATRIX)
    return quick_products() if numbers >= _WORTH_COMPILING else None


def _check(step: int, loss: float, gradient_norm: float, lr: float) -> None:
    if not math.isfinite(loss) or loss > LARGEST_LOSS or not math.isfinite(gradient_norm):
        raise diverged(step, f"a loss of {loss:.4g} and a gradient of length {gradient_norm:.4g}", lr)


def diverged(step: int, got: str, lr: float) -> TrainingError:
    """What to say of a training that left all sense."""
    return TrainingError(
        f"the training diverged at step {step}",
        got=got,
        expected="finite numbers; the last checkpoint holds the weights from before",
        advice=f"a new run with a lower learning rate (train.lr={lr / 3:.2g}), or a longer warm-up",
    )


def all_finite(tensors: Sequence[Tensor]) -> bool:
    """Whether no tensor holds NaN or infinity."""
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)
