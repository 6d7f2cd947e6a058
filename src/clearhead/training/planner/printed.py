"""A plan as people read it."""

from collections.abc import Sequence

from clearhead.training.planner.cluster import Cluster
from clearhead.training.planner.plan import Plan, Workload

_ADVICE = {
    "products": "products: more devices, or faster ones, make it shorter",
    "links": "links between devices: larger batches, or fewer devices, waste less",
    "memory": "memory: it does not fit; smaller batches, more devices with fsdp, or a smaller model",
}
_SCALES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def printed(work: Workload, cluster: Cluster, plans: Sequence[Plan]) -> str:
    """The plans side by side, one column a way."""
    device = cluster.device
    head = [
        f"{scaled(work.n_parameters)} parameters, {scaled(work.step_tokens)} tokens a step, "
        f"{scaled(work.step_flops)}FLOP a step",
        f"{cluster.n_devices} × {device.name}: {scaled(device.flops)}FLOP/s each, "
        f"of which {device.efficiency:.0%} go into the model; {scaled(device.memory)}B",
        "",
    ]
    rows = [
        ("", [each.way.upper() for each in plans]),
        ("memory a device", [f"{scaled(each.memory)}B" for each in plans]),
        ("sent a step", [f"{scaled(each.traffic)}B" for each in plans]),
        ("computing a step", [f"{each.compute_seconds:.3g} s" for each in plans]),
        ("sending a step", [f"{each.traffic_seconds:.3g} s" for each in plans]),
        ("tokens a second", [scaled(each.tokens_per_second) for each in plans]),
        ("steps", [f"{each.n_steps:,}" for each in plans]),
        ("time", [duration(each.seconds) for each in plans]),
        ("cost", [f"${each.cost:,.0f}" if device.price else "-" for each in plans]),
        ("limit", [each.limit for each in plans]),
    ]
    table = [f"{name:18}" + "".join(f"{cell:>14}" for cell in cells) for name, cells in rows]
    limits = [_ADVICE[limit] for limit in dict.fromkeys(each.limit for each in plans)]
    return "\n".join([*head, *table, "", *limits])


def scaled(number: float | int) -> str:
    """A number in three digits with its unit's prefix."""
    for size, prefix in _SCALES:
        if number >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number:.3g} "


def duration(seconds: float) -> str:
    """A time in the largest unit that it fills."""
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
