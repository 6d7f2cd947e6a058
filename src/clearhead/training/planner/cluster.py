"""What a model is trained on: devices as their makers describe them, and how many."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from clearhead.errors import ConfigError, nearest
from clearhead.training.flops import matmul_peak

_GIGA, _TERA = 1e9, 1e12
_MOST_DEVICES = 100_000
_SPELLING = re.compile(r"(?:(\d{1,6})\s*[x×*]\s*)?([a-z0-9-]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Device:
    """One device of a cluster.

    Attributes:
        name: What it is called.
        flops: Operations a second that its maker states for products, in the precision that training uses there.
        memory: Bytes.
        link: Bytes a second from one device to the next inside a machine, one way.
        network: The same between machines, for each device.
        per_machine: Devices of one machine.
        price: Dollars an hour; a round figure of what renting one costs, to be replaced by your own.
        half: Whether products are made in 16 bits, with a second copy of the weights.
        efficiency: The share of `flops` that goes into the model; for accelerators one figure that fits two published
            runs, not a measurement.
    """

    name: str
    flops: float
    memory: float
    link: float
    network: float
    per_machine: int
    price: float
    half: bool = True
    efficiency: float = 0.3


def _accelerator(name: str, *, tera: float, memory: float, link: float, price: float, half: bool = True) -> Device:
    return Device(
        name=name,
        flops=tera * _TERA,
        memory=memory * _GIGA,
        link=link * _GIGA,
        network=min(link, 12.5) * _GIGA,
        per_machine=8,
        price=price,
        half=half,
    )


DEVICES: Mapping[str, Device] = MappingProxyType(
    {
        "p100": _accelerator("P100", tera=10.6, memory=16.0, link=20.0, price=1.5, half=False),
        "v100": _accelerator("V100", tera=125.0, memory=32.0, link=150.0, price=2.5),
        "t4": _accelerator("T4", tera=65.0, memory=16.0, link=12.0, price=0.4),
        "l4": _accelerator("L4", tera=121.0, memory=24.0, link=25.0, price=0.8),
        "rtx4090": _accelerator("RTX 4090", tera=165.0, memory=24.0, link=25.0, price=0.5),
        "a100": _accelerator("A100", tera=312.0, memory=40.0, link=300.0, price=2.0),
        "a100-80": _accelerator("A100 80 GB", tera=312.0, memory=80.0, link=300.0, price=2.3),
        "h100": _accelerator("H100", tera=989.0, memory=80.0, link=450.0, price=3.0),
    }
)
"""Accelerators by name."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Several devices of one kind."""

    device: Device
    n_devices: int

    @property
    def bandwidth(self) -> float:
        """Bytes a second from each device to the next around the ring that sums are made in."""
        return self.device.link if self.n_devices <= self.device.per_machine else self.device.network


def parse_cluster(text: str, *, price: float | None = None) -> Cluster:
    """A cluster as people write it: `8xA100`, `h100`, `2xcpu` for two processes of this computer.

    Raises:
        ConfigError: No such device, or no such number of them.
    """
    match = _SPELLING.fullmatch(text.strip())
    count = int(match[1] or 1) if match else 0
    if match is None or not 1 <= count <= _MOST_DEVICES:
        raise ConfigError("a cluster that cannot be read", got=text[:60], expected="8xA100, h100, 2xcpu")
    name = match[2].lower()
    if name == "cpu":
        device = this_processor(count)
    elif name in DEVICES:
        device = DEVICES[name]
    else:
        known = ["cpu", *DEVICES]
        raise ConfigError("an unknown device", got=match[2], expected=", ".join(known), advice=nearest(name, known))
    return Cluster(device=device if price is None else replace(device, price=price), n_devices=count)


def this_processor(n_processes: int) -> Device:
    """What one of several processes has of this computer: its measured products and its memory, in equal shares."""
    return Device(
        name="process of this computer",
        flops=matmul_peak() / n_processes,
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / n_processes,
        link=_LOOPBACK,
        network=_LOOPBACK,
        per_machine=n_processes,
        price=0.0,
        half=False,
        efficiency=_PROCESSOR_EFFICIENCY,
    )


_LOOPBACK = 1.0 * _GIGA
"""Bytes a second that gloo sums over the loopback, about."""
_PROCESSOR_EFFICIENCY = 0.65
"""What benchmarks/train.py prints for AdamW, about (docs/experiments/training.md)."""
