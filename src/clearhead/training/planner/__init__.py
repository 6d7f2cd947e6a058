"""What a training would take, before it is begun: on this computer, or on a thousand accelerators.

Takes: a job, a cluster, how many tokens.
Gives: parameters, operations, memory a device, traffic a step, tokens a second, days, cost, and which limit binds.
Uses:  training.{flops,job,settings}, models, config, errors.
Never: a device of this computer's but its processor; a guess that does not say so.
"""

from clearhead.training.planner.cluster import DEVICES, Cluster, Device, parse_cluster
from clearhead.training.planner.plan import Plan, Way, Workload, plan
from clearhead.training.planner.printed import printed
from clearhead.training.planner.workload import workload_of

__all__ = [
    "DEVICES",
    "Cluster",
    "Device",
    "Plan",
    "Way",
    "Workload",
    "parse_cluster",
    "plan",
    "printed",
    "workload_of",
]
