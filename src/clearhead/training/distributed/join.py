"""Joining the processes that torchrun started."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, cast

import torch

from clearhead.errors import TrainingError
from clearhead.training.distributed.launch import n_restarts
from clearhead.training.world import World

_PATIENCE = timedelta(days=7)
"""Others wait while the first process reads a corpus or evaluates. Whoever is lost is noticed by torchrun, not by
waiting."""
_RUN = "TORCHELASTIC_RUN_ID"


def is_launched() -> bool:
    """Whether torchrun started this process."""
    return _RUN in os.environ


@contextmanager
def joined(*, shard: bool = False) -> Generator[World]:
    """The world that torchrun made for this process, until the block ends; a world of one without torchrun.

    Raises:
        TrainingError: A model that should be divided, and nobody to divide it among.
    """
    n_ranks = int(os.environ["WORLD_SIZE"]) if is_launched() else 1
    if n_ranks == 1:
        if shard:
            raise TrainingError(
                "a model is divided among several processes",
                got="--shard and one process",
                advice="--shard with --processes 2, or torchrun with --nproc-per-node 2",
            )
        yield World()
        return
    from torch import distributed  # noqa: PLC0415  (only where there are others)
    from torch.distributed.rendezvous import rendezvous  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]

    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(local_rank)
    # The launcher keeps its store when it starts the processes again: addresses of the dead are still in it.
    place, _, _ = next(iter(cast(Any, rendezvous)("env://", rank, n_ranks, timeout=_PATIENCE)))
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if on_gpu else "gloo",
        store=cast(Any, distributed).PrefixStore(f"start-{n_restarts()}", place),
        rank=rank,
        world_size=n_ranks,
        timeout=_PATIENCE,
    )
    try:
        device = f"cuda:{local_rank}" if on_gpu else "cpu"
        yield World(rank=rank, n_ranks=n_ranks, local_rank=local_rank, shard=shard, device=device)
    finally:
        with suppress(RuntimeError):  # others may be gone already
            distributed.destroy_process_group()
