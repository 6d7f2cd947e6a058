"""Muon: steps along a matrix that has been made as orthogonal as it can be.

    momentum = β momentum + (1 - β) gradient        step = orthogonal((1 - β) gradient + β momentum)
    weight  -= lr · (share · sqrt(max(rows, columns)) · step + decay · weight)

(Jordan et al. 2024; the scale, which lets both kinds of parameters share a learning rate, Liu et al. 2025.)
All directions of a matrix move alike, also those that gradients seldom point at. Tables of vectors and all that
is no matrix keep AdamW, whose steps the scale makes alike in size.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from clearhead.nn.product import is_quick, multiply
from clearhead.training.distributed.pieces import is_divided, piece, whole

_SHARE = 0.2
_ROUNDS = (
    (8.3837, -24.7659, 18.3571),
    (4.0434, -3.0114, 0.5695),
    (3.5056, -2.6267, 0.5257),
    (2.4901, -1.8343, 0.4368),
)
"""Coefficients of x, x³ and x⁵, one row a round. Each row comes nearest to 1 over all singular values that the rounds
before it leave, if the first of them lie between 0.003 and 1 (Amsel et al. 2025); the last leaves 0.80 to 1.20. Five
rounds of the polynomial that is widely used (Jordan et al. 2024) leave 0.68 to 1.20."""
_WIDE = 2
"""Columns a row from which the small square of a matrix is worked on in its stead."""
_TINY = 1e-7
_TOGETHER = 4
"""Matrices of one shape that are worked on at one time: enough for all threads, few enough for the processor's cache,
and for the memory of each process where they are divided among several."""


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
        for shape, alike in _in_groups(shapes):
            steps = torch.empty(len(alike), *shape, dtype=alike[0].dtype, device=alike[0].device)
            for parameter, step in zip(alike, steps, strict=True):
                mean = self._memory(parameter, "momentum").lerp_(_gradient(parameter), 1 - momentum)
                if is_divided(parameter):
                    step.copy_(whole(torch.lerp(_gradient(parameter), mean, momentum)))
                else:
                    torch.lerp(_gradient(parameter), mean, momentum, out=step)
            scale = _SHARE * max(shape) ** 0.5
            for parameter, change in zip(alike, orthogonalised(steps), strict=True):
                parameter.mul_(1 - lr * decay).add_(piece(change, parameter), alpha=-lr * scale)

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


def _in_groups(shapes: dict[torch.Size, list[Tensor]]) -> Iterator[tuple[torch.Size, list[Tensor]]]:
    """Matrices of one shape, a few at a time."""
    for shape, alike in shapes.items():
        for first in range(0, len(alike), _TOGETHER):
            yield shape, alike[first : first + _TOGETHER]


def orthogonalised(matrices: Tensor) -> Tensor:
    """Matrices with the same singular vectors, and singular values near 1."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    x: Tensor = matrices.mT if tall else matrices
    length = torch.sqrt(torch.sum(torch.square(x), dim=(-2, -1), keepdim=True))
    x = torch.div(x, length + _TINY)
    x = _by_squares(x) if x.shape[-1] >= _WIDE * x.shape[-2] else _by_themselves(x)
    return x.mT if tall else x


def _by_themselves(x: Tensor) -> Tensor:
    """Round by round, x ← a x + (b S + c S²) x with the square S = x x^T."""
    for a, b, c in _ROUNDS:
        square = _times(x, x.mT)
        x = _plus(x, _plus(square, square, square, beta=b, alpha=c), x, beta=a)
    return x


def _by_squares(x: Tensor) -> Tensor:
    """The same of matrices that are much wider than high, without touching their width in every round.

    With P = a + b S + c S², a round makes P x of x, and P S P of S; all that is made of S commutes. So the product
    of all P is found in the small square, and meets the matrix once (the Gram form of the iteration).
    """
    square = _times(x, x.mT)
    turn = torch.eye(x.shape[-2], dtype=x.dtype, device=x.device).expand_as(square)
    for place, (a, b, c) in enumerate(_ROUNDS, 1):
        change = _plus(square, square, square, beta=b, alpha=c)  # P without its a
        turn = _plus(turn, change, turn, beta=a)
        if place < len(_ROUNDS):
            half = _plus(square, change, square, beta=a)
            square = _plus(half, change, half, beta=a)
    return _times(turn, x)


def _times(left: Tensor, right: Tensor) -> Tensor:
    """The products of matrices, one by one."""
    if not is_quick(left[0], right[0].mT):
        return torch.bmm(left, right)
    return torch.stack([multiply(one, other.mT) for one, other in zip(left, right, strict=True)])


def _plus(added: Tensor, left: Tensor, right: Tensor, *, beta: float, alpha: float = 1.0) -> Tensor:
    """Beta · added + alpha · left · right, matrix by matrix."""
    if not is_quick(left[0], right[0].mT):
        return torch.baddbmm(added, left, right, beta=beta, alpha=alpha)
    return _times(left, right).mul_(alpha).add_(added, alpha=beta)


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
