"""A network where it is trained: in one process, in copies, or in pieces.

    Placed        one process holds everything
    Replicated    each holds everything and asks its share of the batch; DDP sums the gradients while they are made
    Sharded       each holds a piece of everything and asks its share; FSDP2 gathers a block's weights when its turn
                  comes, and scatters the sum of its gradients

torch's engine watches a module's `forward`, and an objective calls other methods of a network; so it is given a module
whose `forward` is the objective's question. Both engines take means of gradients over the processes, where sums are
wanted: losses are multiplied by the number of processes before.
"""

import copy
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from clearhead.errors import TrainingError
from clearhead.models import Network, Recurrent
from clearhead.nn import Stack
from clearhead.training.distributed.pieces import local, piece, whole
from clearhead.training.objective import Batch, Objective
from clearhead.training.world import World

__all__ = ["Placed", "place"]

Answer = tuple[Tensor, Tensor | None]


class Placed:
    """A network that one process trains.

    Args:
        network: What learns.
        objective: What is asked of it.

    Attributes:
        network: What learns, as it is held here.
        whole: What can be evaluated and written: the same, or a second one that is given the weights first.
    """

    def __init__(self, *, network: Network[Any], objective: Objective) -> None:
        self.network = network
        self.whole = network
        self._objective = objective

    def ask(self, batch: Batch, *, is_last: bool) -> Answer:
        """The summed loss of a batch, with its gradient, and how many answers were right.

        Args:
            batch: What is asked.
            is_last: Whether it is the last of its step, whose gradients go to the other processes.
        """
        del is_last
        parts = self._objective(self.network, batch)
        return parts.loss_sum, parts.n_correct

    def weights(self) -> Mapping[str, Tensor]:
        """The parameters by name, as they are held here."""
        return {name: parameter.detach() for name, parameter in self.network.named_parameters()}

    def gathered(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Tensors by name, each put together in the first process's memory; all processes must ask."""
        return tensors

    def worn(self, tensors: Mapping[str, Tensor] | None) -> Mapping[str, Tensor] | None:
        """What `whole` has to wear for an evaluation of such weights, or its own; None for what it has on."""
        return tensors

    def set_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes whole weights from a checkpoint."""
        self.network.set_parameters(tensors)


class Replicated(Placed):
    """A network of which every process holds a copy (`DistributedDataParallel`).

    Args:
        network: What learns.
        objective: What is asked of it.
        world: Which process this is.
    """

    def __init__(self, *, network: Network[Any], objective: Objective, world: World) -> None:
        super().__init__(network=network, objective=objective)
        from torch.nn.parallel import DistributedDataParallel  # noqa: PLC0415  (only where there are others)

        self._is_first = world.is_first
        self._has_twin = world.device != "cpu"
        if self._has_twin:
            self.whole = copy.deepcopy(network) if world.is_first else network
            network.to(world.device)
        # Parameters that a task leaves out keep no gradient, as in one process; and buckets that are never rearranged
        # add up in the same order after a restart as before it.
        warnings.filterwarnings("ignore", message=".*find_unused_parameters=True was specified.*")
        self._engine = DistributedDataParallel(
            Question(network=network, objective=objective), find_unused_parameters=True
        )

    def ask(self, batch: Batch, *, is_last: bool) -> Answer:
        """The summed loss of this process's share."""
        with nullcontext() if is_last else self._engine.no_sync():
            return self._engine(batch)

    def gathered(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Each process has them all; the first hands out its own."""
        return {name: tensor.cpu() for name, tensor in tensors.items()} if self._is_first else {}

    def worn(self, tensors: Mapping[str, Tensor] | None) -> Mapping[str, Tensor] | None:
        """A twin in the processor's memory has to be given the weights."""
        return self.gathered(self.weights() if tensors is None else tensors) if self._has_twin else tensors


class Sharded(Placed):
    """A network of which every process holds a piece (`fully_shard`).

    Args:
        network: What learns, still whole.
        objective: What is asked of it.
        world: Which process this is.
    """

    def __init__(self, *, network: Network[Any], objective: Objective, world: World) -> None:
        if isinstance(network, Recurrent):
            raise TrainingError(
                "a recurrent network cannot be divided",
                got="--shard",
                expected="a Transformer",
                advice="the same without --shard",
            )
        super().__init__(network=network, objective=objective)
        from torch.distributed.device_mesh import init_device_mesh  # noqa: PLC0415  (only where there are others)
        from torch.distributed.fsdp import fully_shard  # noqa: PLC0415

        self._is_first = world.is_first
        self.whole = copy.deepcopy(network) if world.is_first else network
        kind = torch.device(world.device).type
        mesh = init_device_mesh(kind, (world.n_ranks,))
        stacks = [each for each in network.modules() if isinstance(each, Stack)]
        for block in (block for stack in stacks for block in stack.blocks):
            fully_shard(block, mesh=mesh)
        self._engine = Question(network=network, objective=objective)
        fully_shard(self._engine, mesh=mesh)

    def ask(self, batch: Batch, *, is_last: bool) -> Answer:
        """The summed loss of this process's share; every batch's gradients are divided at once, which is the point."""
        del is_last
        return self._engine(batch)

    def gathered(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """One tensor at a time, so that no accelerator holds more than one of them whole."""
        found: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            full = whole(tensor)
            if self._is_first:
                found[name] = full.cpu()
        return found

    def worn(self, tensors: Mapping[str, Tensor] | None) -> Mapping[str, Tensor] | None:
        """What is in pieces cannot be evaluated; the twin has to be given the weights."""
        return self.gathered(self.weights() if tensors is None else tensors)

    @torch.no_grad()
    def set_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes this process's piece of every tensor."""
        if self._is_first:
            self.whole.set_parameters(tensors)  # which also tells whether they fit
        for name, parameter in self.network.named_parameters():
            local(parameter).copy_(local(piece(tensors[name], parameter)))


class Question(nn.Module):
    """An objective's question to a network, as a module.

    Args:
        network: Who is asked.
        objective: What.
    """

    def __init__(self, *, network: Network[Any], objective: Objective) -> None:
        super().__init__()
        self.network = network
        self._objective = objective

    def forward(self, batch: Batch) -> Answer:
        """The summed loss and how many answers were right."""
        parts = self._objective(self.network, batch)
        return parts.loss_sum, parts.n_correct


def place(network: Network[Any], objective: Objective, world: World) -> Placed:
    """A network placed as the world asks for; parameters may be others afterwards.

    Raises:
        TrainingError: A network that cannot be divided.
    """
    if world.is_alone:
        return Placed(network=network, objective=objective)
    kind = Sharded if world.shard else Replicated
    return kind(network=network, objective=objective, world=world)
