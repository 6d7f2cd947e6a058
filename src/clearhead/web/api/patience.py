"""Connections that are given up where nothing comes: many that say little would keep everybody else out."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it; a connection that takes too long for its headers is closed.

    Uvicorn itself is patient only between two requests. Bodies have a time of their own, where they are read.
    """

    patience = 20.0
    """Seconds from the first byte that could have come to the last of the headers."""

    @classmethod
    def waiting(cls, seconds: float) -> type["PatientProtocol"]:
        """The same with a patience of its own."""
        return type("PatientProtocol", (cls,), {"patience": seconds})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait."""
        super().connection_made(transport)
        self._impatience: asyncio.TimerHandle | None = None
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Waits only while a request is not there yet."""
        super().handle_events()
        if self._answering:
            self._stop_waiting()
        elif self._impatience is None and not self.transport.is_closing():
            self._wait()

    @property
    def _answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self._impatience = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._impatience is not None:
            self._impatience.cancel()
            self._impatience = None

    def _give_up(self) -> None:
        self._impatience = None
        if not self._answering and not self.transport.is_closing():
            self.transport.close()
