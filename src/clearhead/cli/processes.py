"""Verbs that several processes run together.

Takes: what a verb was given, and how many processes.
Gives: its work in each of them; one voice, and one exit code for all.
Uses:  training.distributed, cli.{harmless,spelling}, errors; typer.
Never: torch's distributed engine where there is one process.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, cast

import typer

from clearhead.cli.harmless import harmless
from clearhead.cli.spelling import spelled
from clearhead.errors import ClearheadError

__all__ = ["in_processes", "prepare_torch", "together"]

_LOST = 1


def prepare_torch(n_processes: int | None, n_threads: int | None) -> None:
    """Imports torch as this process needs it, and lets it compute with so many threads."""
    if _is_launched() and n_processes is not None:
        raise typer.BadParameter("torchrun has started the processes already", param_hint="--processes")
    if _is_launched() or n_processes is not None:
        # Else it warns that every parameter has a gradient. It reads this when it is imported.
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    import torch

    if n_threads is not None:
        torch.set_num_threads(n_threads)


def in_processes(verb: str, given: Mapping[str, Any], *, n_processes: int) -> int:
    """Runs a verb in several processes of this machine; gives the exit code.

    Args:
        verb: The verb.
        given: What it was given, by the names of its parameters; `files` stand without a name.
        n_processes: How many.
    """
    from clearhead.training.distributed import launch

    return launch([verb, *_again(given)], n_processes=n_processes)


def _again(given: Mapping[str, Any]) -> list[str]:
    """What a verb was given, as it is written, but for the number of processes."""
    found: list[str] = []
    for name, value in given.items():
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        option = f"--{name.replace('_', '-')}"
        if name == "processes" or value is None or value is False:
            continue
        if name == "files":
            found += map(str, values)
        elif value is True:
            found.append(option)
        else:
            found += [text for each in values for text in (option, str(each))]
    return found


def _is_launched() -> bool:
    """Whether torchrun started this process; known without importing torch."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def together(work: Callable[[Any], int], *, shard: bool) -> int:
    """Does work in the world that this process is of; gives what to exit with.

    Args:
        work: Takes the world, gives an exit code.
        shard: Whether the model is divided among the processes.
    """
    from clearhead.training.distributed.join import joined
    from clearhead.training.distributed.launch import exit_code

    if not _is_launched():
        with joined(shard=shard) as world:
            return work(world)
    is_first = os.environ.get("RANK") == "0"
    try:
        with joined(shard=shard) as world:
            return exit_code(work(world), is_first=is_first)
    except ClearheadError as error:
        if os.environ.get("LOCAL_RANK") == "0":  # what went wrong is said once on each machine
            error.advice = None if error.advice is None else spelled(error.advice)
            typer.echo(f"clearhead: {harmless(str(error))}", err=True)
        return exit_code(1, is_first=is_first)
    except RuntimeError as error:
        if not _is_loss(error):
            raise
        return _LOST


def _is_loss(error: RuntimeError) -> bool:
    """Whether the engine lost other processes: torchrun knows, and starts all again."""
    from torch import distributed

    text = str(error).lower()
    return isinstance(error, distributed.DistError) or "gloo" in text or "connection" in text
