"""How often the records of each source are drawn.

Takes: a token store whose records say where they are from, and a weight for each source.
Gives: the weights as an array, where there is anything to weigh.
Uses:  config, errors, data.store; numpy.
Never: weights for fewer sources than there are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearhead.config.checks import require_positive
from clearhead.data.store import TokenStore
from clearhead.errors import ConfigError

__all__ = ["checked_weights"]


def checked_weights(store: TokenStore, weights: Sequence[int | float] | None) -> NDArray[np.float64] | None:
    """The weight of each origin, or None where every record is drawn once."""
    if weights is None:
        return None
    for weight in weights:
        require_positive("weight", weight)
    if not store.has("origin"):
        raise ConfigError("weights for records that do not say where they are from", got=store.folder)
    n_origins = int(store.values("origin").max(initial=-1)) + 1
    if n_origins > len(weights):
        raise ConfigError("too few weights", got=len(weights), expected=f"one for each of {n_origins} sources")
    return None if all(weight == 1 for weight in weights) else np.array(weights, np.float64)
