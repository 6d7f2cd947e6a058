"""Batches of tensors, in an order that can be taken up again anywhere."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import torch
from numpy.typing import NDArray
from torch import Tensor

from clearhead.data import Batches, Cursor, TokenStore, Windows, pad
from clearhead.training.objective import IDLE, Batch
from clearhead.training.world import World

_VALUES = ("label", "score", "teacher")
_ALONE = World()


@runtime_checkable
class Feed(Protocol):
    """An endless stream of batches, which can also give everything once."""

    def follow(self, cursor: Cursor) -> Iterator[tuple[Cursor, Batch]]:
        """The batches from a place on, each with the place after it."""
        ...

    def once(self) -> Iterable[Batch]:
        """Everything once, for evaluation; the same every time."""
        ...


class RecordFeed:
    """Batches of whole records: for translation, classification, similarity, masked language models.

    Args:
        batches: Which records go together, over all processes.
        pad_ids: What fills up the rows of each field of the store.
        world: Which process this is, and so which share of every batch is its own.
    """

    def __init__(self, *, batches: Batches, pad_ids: dict[str, int], world: World = _ALONE) -> None:
        self.batches = batches
        self.pad_ids = pad_ids
        self.world = world

    def follow(self, cursor: Cursor) -> Iterator[tuple[Cursor, Batch]]:
        """The batches from a place on, each with the place after it."""
        for after, rows in self.batches.from_cursor(cursor):
            mine = share(rows, self.world)
            yield after, _lent(collate(self.batches.store, mine, pad_ids=self.pad_ids), rows, self.world)

    def once(self) -> Iterator[Batch]:
        """Every record once."""
        for rows in self.batches.one_epoch():
            yield collate(self.batches.store, rows, pad_ids=self.pad_ids)


class WindowFeed:
    """Batches of windows of running text: for language models.

    Args:
        windows: Where the windows are, over all processes.
        world: Which process this is, and so which share of every batch is its own.
    """

    def __init__(self, *, windows: Windows, world: World = _ALONE) -> None:
        self.windows = windows
        self.world = world

    def follow(self, cursor: Cursor) -> Iterator[tuple[Cursor, Batch]]:
        """The batches from a place on, each with the place after it."""
        for after, ids_BT in self.windows.from_cursor(cursor):
            yield after, _lent({"text": torch.as_tensor(share(ids_BT, self.world))}, ids_BT, self.world)

    def once(self) -> Iterator[Batch]:
        """The whole text once, in order."""
        for ids_BT in self.windows.sequential():
            yield {"text": torch.as_tensor(ids_BT)}


def share(rows: NDArray[Any], world: World) -> NDArray[Any]:
    """The rows of a batch that are one process's own: every so manieth, so that all have rows of all lengths.

    A process without a share is lent the last row.
    """
    return rows[world.rank :: world.n_ranks] if world.rank < len(rows) else rows[-1:]


def _lent(batch: dict[str, Tensor], rows: NDArray[Any], world: World) -> dict[str, Tensor]:
    return batch if world.rank < len(rows) else {**batch, IDLE: torch.ones(1)}


def collate(store: TokenStore, rows: NDArray[Any], *, pad_ids: dict[str, int]) -> dict[str, Tensor]:
    """The records of a batch as tensors: every field with its mask, and the values that the store has."""
    batch: dict[str, Tensor] = {}
    for field in store.fields:
        ids, mask = pad([store.ids(field, int(row)) for row in rows], pad_id=pad_ids[field])
        batch[field], batch[f"{field}_mask"] = torch.as_tensor(ids), torch.as_tensor(mask)
    for name in _VALUES:
        if store.has(name):
            values = torch.as_tensor(store.values(name)[rows])
            batch[name] = values.long() if name == "label" else values
    return batch
