"""Several processes that train one model, by PyTorch's own engine.

Takes: a network, an objective; what torchrun says of the processes.
Gives: the same step as one process makes, divided among them; a launcher that starts them again when one dies.
Uses:  training.{objective,world}, models, nn, errors; torch.distributed, imported when there is more than one process.
Never: a scheduler, a store or a transport of our own; a file that one process would have written otherwise.

    launch ── torchrun's agent ── joined ── World ── place ── Placed | Replicated (DDP) | Sharded (FSDP2)
"""

from clearhead.training.distributed.join import joined
from clearhead.training.distributed.launch import launch
from clearhead.training.distributed.placed import Placed, place

__all__ = ["Placed", "joined", "launch", "place"]
