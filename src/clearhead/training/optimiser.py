"""What makes a step of a gradient; one entry a kind, so that a stronger one can join."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from clearhead.errors import WeightsError
from clearhead.nn import Stack
from clearhead.training.distributed.pieces import piece, whole
from clearhead.training.muon import Muon
from clearhead.training.settings import OptimiserKind, OptimiserSettings


def make_optimiser(network: nn.Module, *, settings: OptimiserSettings, lr: float) -> Optimizer:
    """The optimiser that the settings ask for, over the parameters that training may change.

    Weight decay pulls at matrices alone: a norm's weight belongs near 1, and a bias has no reason to be small.
    """
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    inner = _inner_matrices(network)
    groups = [
        {
            "params": [each for each in parameters if each.ndim >= 2 and each not in inner],
            "weight_decay": settings.weight_decay,
            "orthogonal": False,
        },
        {"params": [each for each in parameters if each.ndim < 2], "weight_decay": 0.0, "orthogonal": False},
        {
            "params": [each for each in parameters if each in inner],
            "weight_decay": settings.weight_decay,
            "orthogonal": True,
        },
    ]
    return OPTIMISERS[settings.kind]([group for group in groups if group["params"]], settings, lr)


def _inner_matrices(network: nn.Module) -> set[Tensor]:
    """The matrices inside the stacks: what maps vectors to vectors, not ids to vectors or vectors to answers."""
    stacks = [module for module in network.modules() if isinstance(module, Stack)]
    linear = [each for stack in stacks for each in stack.modules() if isinstance(each, nn.Linear)]
    return {each.weight for each in linear if each.weight.requires_grad}


def _adamw(groups: list[dict[str, Any]], settings: OptimiserSettings, lr: float) -> Optimizer:
    betas = (settings.beta1, settings.beta2)
    plain = [{name: value for name, value in group.items() if name != "orthogonal"} for group in groups]
    return AdamW(plain, lr=lr, betas=betas, eps=settings.epsilon, fused=True)


def _muon(groups: list[dict[str, Any]], settings: OptimiserSettings, lr: float) -> Optimizer:
    return Muon(groups=groups, lr=lr, betas=(settings.beta1, settings.beta2), epsilon=settings.epsilon)


OPTIMISERS: Mapping[OptimiserKind, Callable[[list[dict[str, Any]], OptimiserSettings, float], Optimizer]] = (
    MappingProxyType({OptimiserKind.ADAMW: _adamw, OptimiserKind.MUON: _muon})
)
"""How each kind is made, of groups of parameters, its settings and the learning rate."""


def set_rate(optimiser: Optimizer, lr: float) -> None:
    """Sets the learning rate of all groups."""
    for group in optimiser.param_groups:
        group["lr"] = lr


def clip(parameters: Iterable[nn.Parameter], *, longest: float | None) -> float:
    """Shortens a gradient that is too long; gives the length that it had."""
    if longest is None:
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        return float(whole(nn.utils.get_total_norm(gradients)))
    return float(whole(nn.utils.clip_grad_norm_(parameters, longest)))


def optimiser_tensors(optimiser: Optimizer, network: nn.Module) -> dict[str, Tensor]:
    """What an optimiser remembers, by parameter and quantity: `decoder.….weight:exp_avg`."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in network.named_parameters()}
    return {
        f"{names[parameter]}:{quantity}": value
        for parameter, memory in optimiser.state.items()
        for quantity, value in memory.items()
    }


def set_optimiser_tensors(optimiser: Optimizer, network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Makes an optimiser remember what `optimiser_tensors` gave.

    Raises:
        WeightsError: A quantity of a parameter that this network does not have, or of another shape.
    """
    parameters = dict(network.named_parameters())
    optimiser.state.clear()
    for key, value in tensors.items():
        name, _, quantity = key.rpartition(":")
        parameter = parameters.get(name)
        if parameter is None or value.shape not in (parameter.shape, torch.Size([])):
            raise WeightsError("what the optimiser remembers does not fit the model", got=f"{key} {tuple(value.shape)}")
        fits = value.shape == parameter.shape
        optimiser.state[parameter][quantity] = piece(value, parameter) if fits else value.to(parameter.device)
