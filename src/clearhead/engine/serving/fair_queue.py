"""Who is next: clients take turns, and each client's requests keep their order."""

from collections import deque
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """What waits, by client; any thread may add, one takes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._clients: dict[str, deque[Item]] = {}  # the client whose turn it is comes first
        self._n_items = 0

    def __len__(self) -> int:
        return self._n_items

    def items(self) -> list[Item]:
        """All that waits, client by client."""
        with self._lock:
            return [item for items in self._clients.values() for item in items]

    def push(self, item: Item, *, client: str) -> None:
        """Adds what a client wants behind all that it wanted before; a client that waited for nothing comes last."""
        with self._lock:
            self._clients.setdefault(client, deque()).append(item)
            self._n_items += 1

    def peek(self) -> Item | None:
        """What is next."""
        with self._lock:
            return next((items[0] for items in self._clients.values()), None)

    def pop(self) -> Item:
        """Takes what is next; its client comes last now."""
        with self._lock:
            client = next(iter(self._clients))
            items = self._clients.pop(client)
            item = items.popleft()
            if items:
                self._clients[client] = items
            self._n_items -= 1
            return item

    def remove(self, item: Item, *, client: str) -> None:
        """Takes something out of its place."""
        with self._lock:
            items = self._clients[client]
            items.remove(item)
            if not items:
                del self._clients[client]
            self._n_items -= 1
