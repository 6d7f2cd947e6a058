"""Batches of tensors, in an order that can be taken up again anywhere."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import torch
from numpy.typing import NDArray
from torch import Tensor

from clearhead.data import Batches, Cursor, TokenStore, Windows, pad
from clearhead.training.objective import Batch

_VALUES = ("label", "score", "teacher")


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
        batches: Which records go together.
        pad_ids: What fills up the rows of each field of the store.
    """

    def __init__(self, *, batches: Batches, pad_ids: dict[str, int]) -> None:
        self.batches = batches
        self.pad_ids = pad_ids

    def follow(self, cursor: Cursor) -> Iterator[tuple[Cursor, Batch]]:
        """The batches from a place on, each with the place after it."""
        for after, rows in self.batches.from_cursor(cursor):
            yield after, collate(self.batches.store, rows, pad_ids=self.pad_ids)

    def once(self) -> Iterator[Batch]:
        """Every record once."""
        for rows in self.batches.one_epoch():
            yield collate(self.batches.store, rows, pad_ids=self.pad_ids)


class WindowFeed:
    """Batches of windows of running text: for language models.

    Args:
        windows: Where the windows are.
    """

    def __init__(self, *, windows: Windows) -> None:
        self.windows = windows

    def follow(self, cursor: Cursor) -> Iterator[tuple[Cursor, Batch]]:
        """The batches from a place on, each with the place after it."""
        for after, ids_BT in self.windows.from_cursor(cursor):
            yield after, {"text": torch.as_tensor(ids_BT)}

    def once(self) -> Iterator[Batch]:
        """The whole text once, in order."""
        for ids_BT in self.windows.sequential():
            yield {"text": torch.as_tensor(ids_BT)}


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
