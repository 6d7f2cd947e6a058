"""Answers that come as they are made: server-sent events, cancelled when nobody listens."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clearhead.errors import ClearheadError
from clearhead.web.api.endpoint import EVENTS
from clearhead.web.api.errand import Errand
from clearhead.web.api.faults import LEFT, fault_body, mistake, took_too_long
from clearhead.web.api.logs import report_mistake

_DONE = b"data: [DONE]\n\n"


class EventStream(Response):
    """Events, one after another; the last says that all is done, or what went wrong.

    Args:
        events: Each event as JSON.
        errand: What is told when the client leaves.
        path: What was asked, which says how errors are told.
    """

    media_type = EVENTS

    def __init__(self, *, events: AsyncIterator[str], errand: Errand, path: str) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._errand = errand
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends events until there are no more, or nobody who takes them."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, timeout=self._errand.remaining, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            elif leaving.done():
                scope["clearhead"]["status"] = LEFT
            else:
                scope["clearhead"]["status"] = 504
                await self._cut_off(sending, send)
        finally:
            leaving.cancel()
            sending.cancel()
            self._errand.leave()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        last = _DONE
        try:
            async for event in self._events:
                await send(_piece(f"data: {event}\n\n".encode()))
        except ClearheadError as error:
            last = f"data: {fault_body(error, path=self._path)}\n\n".encode()
        except Exception as error:  # noqa: BLE001  (the status is sent already: the stream itself must say so)
            report_mistake(error)
            last = f"data: {fault_body(mistake(error), path=self._path)}\n\n".encode()
        await send(_piece(last, more=False))

    async def _cut_off(self, sending: "asyncio.Task[None]", send: Send) -> None:
        """Says that the time is over, to a client that takes what it is sent."""
        sending.cancel()
        said = fault_body(took_too_long(self._errand.seconds), path=self._path)
        try:
            async with asyncio.timeout(1):
                await asyncio.wait({sending})
                await send(_piece(f"data: {said}\n\n".encode(), more=False))
        except TimeoutError:
            return


def _piece(body: bytes, *, more: bool = True) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
