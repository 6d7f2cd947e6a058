"""What several steps of one call left at the sites that somebody hears: each step writes over what one before it left.

A kernel copies it, step by step and block by block, to memory that those who listen may keep.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np

from clearhead.config import StackConfig
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import widths_of
from clearhead.engine.kernels.sites import Heard, Kept, announce, filled, tensor_of

_MOST_NUMBERS = 2**23
"""Numbers that are kept at a time: fewer steps are taken in a call where one leaves much."""


class _Stage(NamedTuple):
    """A stage that is heard: how many numbers a row has there, always and for each position, and who keeps what."""

    place: int
    always: int
    for_each: int
    kept: tuple[Kept, ...]


class Keeping:
    """Memory for what steps leave, and the table that says so to a kernel.

    Args:
        config: The sizes of the stack.
        heard: What somebody hears of it; nothing that is told site by site.
        n_rows: Rows in any step.
        n_past: Positions of a row before the first.
        n_source: Positions of a source.

    Attributes:
        most_steps: Steps that may be taken in one call: at least one.
        table: For each heard stage, which it is, and how many numbers a row has there: always, and for each position.
    """

    def __init__(self, *, config: StackConfig, heard: Heard, n_rows: int, n_past: int, n_source: int) -> None:
        self._stages: list[_Stage] = []
        if heard.apart:
            none, one = (widths_of(config, n_keys=n_keys, n_source=n_source) for n_keys in (0, 1))
            self._stages = [
                _Stage(place, none[place], one[place] - none[place], _of(heard, place)) for place in sorted(heard.apart)
            ]
        self.table = np.array([stage[:3] for stage in self._stages], dtype=np.int64).reshape(-1, 3)
        self._heard, self._n_layers, self._n_past, self._n_source = heard, config.n_layers, n_past, n_source
        always = n_rows * config.n_layers * sum(stage.always for stage in self._stages)
        for_each = n_rows * config.n_layers * sum(stage.for_each for stage in self._stages)
        self._ends = list(accumulate(always + for_each * (n_past + step + 1) for step in range(at.MOST_STEPS)))
        self.most_steps = max(1, bisect_right(self._ends, _MOST_NUMBERS))
        self._held = np.empty(0, dtype=np.float32)

    def begin(self, n_steps: int) -> int:
        """Makes room for so many steps; gives its address."""
        self._held = np.empty(self._ends[n_steps - 1], dtype=np.float32)
        return self._held.ctypes.data

    def tell(self, counts: Sequence[int], *, before: Callable[[int], object] | None) -> None:
        """Lets those who listen keep what each step left.

        Args:
            counts: How many rows each step had.
            before: Called before each, with its number.
        """
        first, n_layers, held = 0, self._n_layers, self._held
        if self._heard.coming:
            announce(self._heard)
        for step, n_rows in enumerate(counts):
            if before is not None:
                before(step)
            n_keys = self._n_past + step + 1
            for _, always, for_each, kept in self._stages:
                width = always + for_each * n_keys
                end = first + n_layers * n_rows * width
                values = held[first:end].reshape(n_layers, n_rows, width)
                first = end
                for sites, keep_all, takes_arrays, layers, (_, _, _, sizes, skip) in kept:
                    shape = (n_rows, *filled(sizes, n_keys, self._n_source))
                    own = values[layers, :, skip : skip + prod(shape[1:])]
                    if takes_arrays:
                        keep_all(sites, own, shape)
                    else:
                        own = own if len(kept) == 1 else own.copy()  # nobody shares what he keeps
                        keep_all(sites, map(tensor_of, own.reshape(len(sites), *shape)))


def _of(heard: Heard, place: int) -> tuple[Kept, ...]:
    return tuple(kept for kept in heard.kept if kept.left.place == place)
