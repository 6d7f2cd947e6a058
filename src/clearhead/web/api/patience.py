"""Connections that are given up where nothing comes or nothing is taken: such would keep everybody else out."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

_MOMENT = 0.2
_LEAST_A_SECOND = 32 * 1024
"""Bytes of a large answer that a client has to take each second, once it is behind."""


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it; a connection that takes too long for its headers, or for its answer, is closed.

    Uvicorn itself is patient only between two requests. Bodies have a time of their own, where they are read. Where
    there are very many connections, the one goes that has waited longest for its request to be complete: whoever asks
    at once is answered, however many others say little.
    """

    patience: ClassVar[float] = 20.0
    """Seconds from the first byte that could have come to the last of the headers."""
    crowd: ClassVar[int] = 700
    """Connections beyond which those that say little make room."""
    _arriving: ClassVar[dict["PatientProtocol", None]] = {}
    """Connections whose request is not complete, the longest first."""

    @classmethod
    def waiting(cls, seconds: float) -> type["PatientProtocol"]:
        """The same with a patience of its own."""
        return type("PatientProtocol", (cls,), {"patience": seconds, "_arriving": {}})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait."""
        super().connection_made(transport)
        self._impatience: asyncio.TimerHandle | None = None
        self._behind: asyncio.TimerHandle | None = None
        self._wait()
        if len(self.connections) > self.crowd:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._stop_waiting()
        self._arriving.pop(self, None)
        self._stop_watching()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Waits only while a request is not there yet."""
        super().handle_events()
        if self._answering:
            self._stop_waiting()
        elif self._impatience is None and not self.transport.is_closing():
            self._wait()
        cycle: Any = self.cycle
        if self._answering and not cycle.more_body:
            self._arriving.pop(self, None)

    def on_response_complete(self) -> None:
        """Makes room for others from now on."""
        self._arriving[self] = None
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Looks whether the client takes what it is sent."""
        super().pause_writing()
        self._stop_watching()
        self._watch()

    def resume_writing(self) -> None:
        """The client has taken enough."""
        self._stop_watching()
        super().resume_writing()

    @property
    def _answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _make_room(self) -> None:
        """Ends the oldest connection whose request is not complete, unless it is there after all and was not read."""
        oldest = next(iter(self._arriving))
        if oldest is not self:
            del self._arriving[oldest]
            # Two moments, since a connection is read only after all that came with it were taken up.
            self.loop.call_later(_MOMENT, self.loop.call_later, _MOMENT, oldest._leave)

    def _leave(self) -> None:
        cycle: Any = self.cycle
        if not self._answering or cycle.more_body:
            self.transport.abort()

    def _wait(self) -> None:
        self._arriving[self] = None
        self._impatience = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._impatience is not None:
            self._impatience.cancel()
            self._impatience = None

    def _give_up(self) -> None:
        self._impatience = None
        if not self._answering and not self.transport.is_closing():
            self.transport.close()

    def _watch(self) -> None:
        size = self.transport.get_write_buffer_size()
        self._behind = self.loop.call_later(self.patience, self._check_taken, size)

    def _stop_watching(self) -> None:
        if self._behind is not None:
            self._behind.cancel()
            self._behind = None

    def _check_taken(self, before: int) -> None:
        """Ends a connection whose client hardly takes anything: closing it would wait for the rest."""
        if before - self.transport.get_write_buffer_size() < _LEAST_A_SECOND * self.patience:
            self.transport.abort()
        else:
            self._watch()
