"""A place in the endless stream of batches, and the chance that orders them.

Takes: seeds and counts.
Gives: Cursor, and random numbers that depend on nothing but what they are asked for.
Uses:  config, errors, data.hashes; numpy.
Never: a state that would have to be saved.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearhead.config.checks import require_size, require_types
from clearhead.config.record import RECORD, from_dict
from clearhead.data.hashes import MAX_SEED

__all__ = ["START", "Cursor", "chance", "check_seed"]


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """A place in the stream of batches.

    Attributes:
        epoch: Which time through the data, from 0.
        batch: Which batch of that epoch comes next, from 0.
    """

    __pydantic_config__ = RECORD

    epoch: int
    batch: int

    def __post_init__(self) -> None:
        require_types(self)
        require_size("epoch", self.epoch, least=0)
        require_size("batch", self.batch, least=0)

    def to_dict(self) -> dict[str, int]:
        """The place as data that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Cursor":
        """The place that `to_dict` wrote."""
        return from_dict(cls, dict(data))


START = Cursor(epoch=0, batch=0)


def chance(n: int, *, seed: int, stream: int, step: int = 0) -> NDArray[np.uint64]:
    """As many random numbers of eight bytes, the same for the same arguments on every machine."""
    key = np.array([seed, stream], np.uint64)
    counter = np.array([0, step, 0, 0], np.uint64)
    return np.asarray(np.random.Philox(key=key, counter=counter).random_raw(n), np.uint64)


def check_seed(seed: int) -> None:
    """Raises unless a seed can be one."""
    require_size("seed", seed, least=0, most=MAX_SEED)
