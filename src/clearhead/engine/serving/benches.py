"""Where rows sit while they are answered, one kind for each family of models.

A bench steps all its rows at once. Rows are put on it behind the others, and it goes on with those that are kept.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from clearhead.engine.serving.shared_cache import HeldKeys, SharedCache
from clearhead.models import DecoderOnly, EncoderDecoder, Recurrent
from clearhead.nn import RecurrentState


@runtime_checkable
class Held(Protocol):
    """What a model remembers of the rows of one request, outside the batch."""

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        ...

    def select(self, rows: list[int]) -> "Held":
        """These rows, in this order; one may be taken several times."""
        ...


@runtime_checkable
class Bench(Protocol):
    """What a scheduler knows of a running batch."""

    @property
    def n_rows(self) -> int:
        """Rows in the batch."""
        ...

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        ...

    def put(self, held: Held) -> None:
        """Adds a request's rows behind the others."""
        ...

    def take(self, rows: list[int]) -> Held:
        """A copy of what is remembered of the rows of one request."""
        ...

    def keep(self, origins: list[int]) -> None:
        """Goes on with rows from these places, in this order; one may be taken several times."""
        ...

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row; where it raises, the rows are as they were."""
        ...


class KeysBench:
    """Rows of a model that remembers by keys and values.

    Args:
        network: The model.
    """

    def __init__(self, *, network: DecoderOnly | EncoderDecoder) -> None:
        self._network = network
        self._cache = SharedCache(n_layers=len(network.decoder.blocks))

    @property
    def n_rows(self) -> int:
        """Rows in the batch."""
        return self._cache.n_rows

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        return self._cache.positions

    def put(self, held: Held) -> None:
        """Adds a request's rows behind the others."""
        assert isinstance(held, HeldKeys)
        self._cache.put(held)

    def take(self, rows: list[int]) -> HeldKeys:
        """A copy of what is remembered of the rows of one request."""
        return self._cache.take(rows)

    def keep(self, origins: list[int]) -> None:
        """Goes on with rows from these places, in this order; one may be taken several times."""
        self._cache.keep(origins)

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row; where it raises, the rows are as they were."""
        assert self._network.head is not None
        mask_BK = self._cache.open_step()
        hidden_BTD = self._decode(ids_B.unsqueeze(1), mask_BK)
        logits_BV = self._network.head(hidden_BTD)[:, 0]
        self._cache.close_step()
        return logits_BV

    def _decode(self, ids_BT: Tensor, mask_BK: Tensor | None) -> Tensor:
        if isinstance(self._network, DecoderOnly):
            return self._network.decode(ids_BT, mask_BK=mask_BK, cache=self._cache)
        # What was encoded is in the cache already; only its shape is looked at.
        shape = (ids_BT.shape[0], self._cache.source_length, self._network.config.width)
        return self._network.decode(
            ids_BT,
            encoded_BSD=torch.zeros(1, 1, 1).expand(shape),
            source_mask_BS=self._cache.source_mask,
            target_mask_BK=mask_BK,
            cache=self._cache,
        )


@dataclass(frozen=True, kw_only=True)
class HeldState:
    """What a recurrent model remembers of one request outside the batch."""

    state: RecurrentState

    @property
    def positions(self) -> int:
        """Positions that memory is held for: those of the sources, and one for the state."""
        return self.state.mask_BS.shape[0] * (1 + self.state.mask_BS.shape[1])

    def select(self, rows: list[int]) -> "HeldState":
        """These rows, in this order; one may be taken several times."""
        return HeldState(state=_trimmed(self.state.select(torch.tensor(rows))))


class StateBench:
    """Rows of a recurrent model.

    Args:
        network: The model.
    """

    def __init__(self, *, network: Recurrent) -> None:
        self._network = network
        self._state: RecurrentState | None = None

    @property
    def n_rows(self) -> int:
        """Rows in the batch."""
        return 0 if self._state is None else self._state.mask_BS.shape[0]

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        return 0 if self._state is None else HeldState(state=self._state).positions

    def put(self, held: Held) -> None:
        """Adds a request's rows behind the others."""
        assert isinstance(held, HeldState)
        self._state = held.state if self._state is None else _beside(self._state, held.state)

    def take(self, rows: list[int]) -> HeldState:
        """A copy of what is remembered of the rows of one request."""
        assert self._state is not None
        return HeldState(state=self._state).select(rows)

    def keep(self, origins: list[int]) -> None:
        """Goes on with rows from these places, in this order; one may be taken several times."""
        if not origins:
            self._state = None
        elif self._state is not None and origins != list(range(self.n_rows)):
            self._state = _trimmed(self._state.select(torch.tensor(origins)))

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row; where it raises, the rows are as they were."""
        assert self._state is not None
        logits_BV, self._state = self._network.step(ids_B, self._state)
        return logits_BV


def new_bench(network: DecoderOnly | EncoderDecoder | Recurrent) -> Bench:
    """An empty bench for a model of any family."""
    return StateBench(network=network) if isinstance(network, Recurrent) else KeysBench(network=network)


def _trimmed(state: RecurrentState) -> RecurrentState:
    """A state without source positions that are padding in every row."""
    width = int(state.mask_BS.sum(-1).max())
    return _resized(state, width) if width < state.mask_BS.shape[1] else state


def _beside(first: RecurrentState, second: RecurrentState) -> RecurrentState:
    width = max(first.mask_BS.shape[1], second.mask_BS.shape[1])
    first, second = _resized(first, width), _resized(second, width)
    pairs = zip(first.cells, second.cells, strict=True)
    keys = [state.key_B1SD for state in (first, second) if state.key_B1SD is not None]
    return RecurrentState(
        cells=[tuple(torch.cat(parts) for parts in zip(*pair, strict=True)) for pair in pairs],
        summary_BD=torch.cat([first.summary_BD, second.summary_BD]),
        key_B1SD=torch.cat(keys) if keys else None,
        source_BSD=torch.cat([first.source_BSD, second.source_BSD]),
        mask_BS=torch.cat([first.mask_BS, second.mask_BS]),
    )


def _resized(state: RecurrentState, width: int) -> RecurrentState:
    """A state with so many source positions: the new ones are padding."""
    n_more = width - state.mask_BS.shape[1]
    if not n_more:
        return state
    return RecurrentState(
        cells=state.cells,
        summary_BD=state.summary_BD,
        key_B1SD=None if state.key_B1SD is None else functional.pad(state.key_B1SD, (0, 0, 0, n_more)),
        source_BSD=functional.pad(state.source_BSD, (0, 0, 0, n_more)),
        mask_BS=functional.pad(state.mask_BS, (0, n_more)),
    )
