"""Rows of tables that training leaves as they are.

The vector of padding stays zero, which is how Marian models are published and read elsewhere. The gradient of such a
row is cleared once it is complete: when the batches of a step, and the other processes, have added theirs.
"""

from weakref import WeakKeyDictionary

import torch
from torch import nn

from clearhead.training.distributed.pieces import local, row_here

_STILL: WeakKeyDictionary[nn.Module, dict[str, int]] = WeakKeyDictionary()


def keep_still(network: nn.Module, tables: list[nn.Parameter], *, row: int) -> None:
    """Makes a row of some parameters zero, and remembers to keep it so."""
    wanted = {id(table) for table in tables}
    found = {name: parameter for name, parameter in network.named_parameters() if id(parameter) in wanted}
    with torch.no_grad():
        for table in found.values():
            table[row] = 0.0
    _STILL[network] = dict.fromkeys(found, row)


def clear_still(network: nn.Module) -> None:
    """Clears the gradients of the rows that stay as they are."""
    still = _STILL.get(network)
    if not still:
        return
    parameters = dict(network.named_parameters())
    for name, row in still.items():
        gradient = parameters[name].grad
        here = None if gradient is None else row_here(gradient, row)
        if gradient is not None and here is not None:
            local(gradient)[here] = 0.0
