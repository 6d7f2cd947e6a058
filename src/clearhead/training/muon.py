"""Muon: steps along a matrix that has been made as orthogonal as it can be.

    momentum = β momentum + (1 - β) gradient        step = orthogonal((1 - β) gradient + β momentum)
    weight  -= lr · (share · sqrt(max(rows, columns)) · step + decay · weight)

(Jordan et al. 2024; the scale, which lets both kinds of parameters share a learning rate, Liu et al. 2025.)
All directions of a matrix move alike, also those that gradients seldom point at. Tables of vectors and all that
is no matrix keep AdamW, whose steps the scale makes alike in size.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

_SHARE = 0.2
_ROUNDS = 5
_QUINTIC = (3.4445, -4.7750, 2.0315)
"""Coefficients of the polynomial whose rounds bring all singular values near 1 (Jordan et al. 2024)."""
_TINY = 1e-7


class Muon(Optimizer):
    """Orthogonal steps for the groups that say so, AdamW's for the others.

    Args:
        groups: Groups of parameters, each with `weight_decay` and `orthogonal`.
        lr: The learning rate of all.
        betas: How slowly the means of gradients and of their squares forget.
        epsilon: What keeps AdamW's division finite.
        momentum: How slowly the mean of the gradients of an orthogonal step forgets.
    """

    def __init__(
        self,
        *,
        groups: list[dict[str, Any]],
        lr: float,
        betas: tuple[float, float],
        epsilon: float,
        momentum: float = 0.95,
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "epsilon": epsilon, "momentum": momentum}
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Moves every parameter that has a gradient."""
        assert closure is None, "the gradient is there already"
        for group in self.param_groups:
            parameters = [each for each in group["params"] if each.grad is not None]
            if group["orthogonal"]:
                self._orthogonal(parameters, group)
            else:
                self._adamw(parameters, group)

    def _orthogonal(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        lr, decay, momentum = group["lr"], group["weight_decay"], group["momentum"]
        shapes: dict[torch.Size, list[Tensor]] = {}
        for parameter in parameters:
            shapes.setdefault(parameter.shape, []).append(parameter)
        for shape, alike in shapes.items():
            # Matrices of one shape are made orthogonal together: few large products instead of many small ones.
            gradients = torch.stack([_gradient(each) for each in alike])
            means = torch.stack([self._memory(each, "momentum") for each in alike])
            means.lerp_(gradients, 1 - momentum)
            steps = orthogonalised(gradients.lerp_(means, momentum))
            scale = _SHARE * max(shape) ** 0.5
            for parameter, mean, change in zip(alike, means, steps, strict=True):
                self._memory(parameter, "momentum").copy_(mean)
                parameter.mul_(1 - lr * decay).add_(change, alpha=-lr * scale)

    def _adamw(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        lr, decay, (beta1, beta2) = group["lr"], group["weight_decay"], group["betas"]
        for parameter in parameters:
            gradient = _gradient(parameter)
            count = self._count(parameter)
            mean, square = self._memory(parameter, "exp_avg"), self._memory(parameter, "exp_avg_sq")
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            spread = square.sqrt().div_((1 - beta2**count) ** 0.5).add_(group["epsilon"])
            parameter.mul_(1 - lr * decay).addcdiv_(mean, spread, value=-lr / (1 - beta1**count))

    def _memory(self, parameter: Tensor, quantity: str) -> Tensor:
        memory: dict[str, Tensor] = self.state[parameter]
        if quantity not in memory:
            memory[quantity] = torch.zeros_like(parameter)
        return memory[quantity]

    def _count(self, parameter: Tensor) -> int:
        """Which step of this parameter it is; kept as a tensor, so that it is saved like the rest."""
        memory: dict[str, Tensor] = self.state[parameter]
        memory["step"] = memory.get("step", torch.zeros(())) + 1
        return int(memory["step"])


def orthogonalised(matrices: Tensor) -> Tensor:
    """Matrices with the same singular vectors, and singular values near 1."""
    a, b, c = _QUINTIC
    tall = matrices.shape[-2] > matrices.shape[-1]
    x: Tensor = matrices.mT if tall else matrices
    length = torch.sqrt(torch.sum(torch.square(x), dim=(-2, -1), keepdim=True))
    x = torch.div(x, length + _TINY)
    for _ in range(_ROUNDS):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
