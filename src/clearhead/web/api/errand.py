"""One request as the threads see it that work for it: how long it may take, and whether anybody still waits."""

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar

from clearhead.web.api.faults import Refusal, took_too_long


class Errand:
    """What is done for one request.

    Args:
        seconds: How long it may take.
        client: Whose it is, for fair turns.
    """

    def __init__(self, *, seconds: float, client: str = "") -> None:
        self.seconds = seconds
        self.client = client
        self.deadline = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._left = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def left(self) -> bool:
        """Whether nobody waits any more, or the time is over."""
        return self._left or time.monotonic() > self.deadline

    @property
    def remaining(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    def leave(self) -> None:
        """Says that nobody waits any more; what runs for it is told so."""
        with self._lock:
            self._left = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_leave(self, callback: Callable[[], None]) -> None:
        """Calls back once nobody waits; at once where that is so already."""
        with self._lock:
            if not self._left:
                self._callbacks.append(callback)
                return
        callback()

    def check(self) -> None:
        """Goes on only where somebody waits.

        Raises:
            Refusal: Nobody does, or the time is over.
        """
        if time.monotonic() > self.deadline:
            raise took_too_long(self.seconds)
        if self._left:
            raise Refusal(status=499, problem="nobody waits for this any more")


current: ContextVar[Errand | None] = ContextVar("errand", default=None)
"""The errand that this thread works for."""
