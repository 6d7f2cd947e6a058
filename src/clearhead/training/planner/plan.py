"""The arithmetic of a plan.

    seconds a step  = operations / (devices · peak · efficiency)  +  traffic that computing does not hide
                      + what Muon multiplies, which every device repeats
    DDP             every device holds everything, and gradients are summed around a ring:
                    2 (n - 1)/n · gradients a step
    FSDP            every device holds an n-th of weights, gradients and optimiser, gathers the weights
                    twice a step and scatters the gradients:  (n - 1)/n · (2 · weights + gradients)

(Rajbhandari et al. 2020 for what is held and sent; Korthikanti et al. 2022, section 4.1, for activations, without
the term that fused attention never stores.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from clearhead.training.planner.cluster import Cluster

_FULL, _HALF = 4, 2
_ACTIVATIONS = 34
"""Bytes that a layer keeps for each token and unit of width, in 16 bits."""
_HIDDEN_SHARE = 0.5
"""The share of a step's computing that runs while gradients travel: most of its backward half."""


class Way(StrEnum):
    """How a model is divided over devices."""

    DDP = "ddp"
    FSDP = "fsdp"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is to be computed.

    Attributes:
        n_parameters: Numbers of the model.
        n_layers: Blocks of all stacks.
        width: Of the stream.
        step_flops: Operations of a step.
        step_tokens: Tokens of a step, over all devices.
        batches: Batches of a step, one after the other; only one is in memory.
        n_steps: Steps; None where a time is given and not a number of steps.
        seconds: The time that is given.
        optimiser_numbers: Numbers that the optimiser and an average keep for each parameter.
        optimiser_flops: Operations of the optimiser's products in a step, which are not divided among devices.
    """

    n_parameters: int
    n_layers: int
    width: int
    step_flops: float
    step_tokens: int
    batches: int = 1
    n_steps: int | None = None
    seconds: float | None = None
    optimiser_numbers: float = 2.0
    optimiser_flops: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a training would take in one way.

    Attributes:
        way: How the model is divided.
        memory: Bytes of each device.
        traffic: Bytes that each device sends a step.
        compute_seconds: Of a step.
        traffic_seconds: Of a step, whether computing hides them or not.
        step_seconds: Of a step in all.
        tokens_per_second: Over all devices.
        n_steps: Steps of the run.
        seconds: Of the run.
        cost: Dollars.
        limit: What binds: "memory" where it does not fit, else "links" or "products".
    """

    way: Way
    memory: float
    traffic: float
    compute_seconds: float
    traffic_seconds: float
    step_seconds: float
    tokens_per_second: float
    n_steps: int
    seconds: float
    cost: float
    limit: str


def plan(work: Workload, cluster: Cluster) -> Sequence[Plan]:
    """What the work takes on the cluster, divided in each way that makes sense there."""
    ways = (Way.DDP,) if cluster.n_devices == 1 else tuple(Way)
    return [_one(work, cluster, way) for way in ways]


def _one(work: Workload, cluster: Cluster, way: Way) -> Plan:
    device, n = cluster.device, cluster.n_devices
    compute = (work.step_flops / n + work.optimiser_flops) / (device.flops * device.efficiency)
    traffic = _traffic(work, n, way, half=device.half)
    travelling = traffic / cluster.bandwidth
    exposed = max(0.0, travelling - _HIDDEN_SHARE * compute)
    step = compute + exposed
    n_steps = work.n_steps if work.n_steps is not None else max(1, math.floor((work.seconds or 0.0) / step))
    memory = _memory(work, n, way, half=device.half)
    return Plan(
        way=way,
        memory=memory,
        traffic=traffic,
        compute_seconds=compute,
        traffic_seconds=travelling,
        step_seconds=step,
        tokens_per_second=work.step_tokens / step,
        n_steps=n_steps,
        seconds=n_steps * step,
        cost=n_steps * step / 3600 * n * device.price,
        limit="memory" if memory > device.memory else "links" if exposed > compute else "products",
    )


def _traffic(work: Workload, n: int, way: Way, *, half: bool) -> float:
    gradients = _FULL * work.n_parameters
    if way is Way.DDP:
        return 2 * (n - 1) / n * gradients
    weights = (_HALF if half else _FULL) * work.n_parameters
    return (n - 1) / n * (2 * weights + gradients)


def _memory(work: Workload, n: int, way: Way, *, half: bool) -> float:
    kept = _FULL * (2 + work.optimiser_numbers) * work.n_parameters + (_HALF * work.n_parameters if half else 0)
    if way is Way.FSDP:
        gathered = 2 * _FULL * work.n_parameters / max(1, work.n_layers)  # a block, and the next on its way
        kept = kept / n + gathered
    bytes_each = _ACTIVATIONS * (1 if half else 2)
    return kept + bytes_each * work.width * work.n_layers * work.step_tokens / work.batches / n
