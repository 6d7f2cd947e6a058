"""Texts on their way: events of the scheduler's thread, taken up on the event loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from clearhead.decoding import Event
from clearhead.engine import Request
from clearhead.engine.serving import Failure, Scheduler, Ticket
from clearhead.errors import DecodingError
from clearhead.web.api.endpoint import Call


class Writing:
    """The texts of one call, written side by side; whoever leaves the call cancels them all.

    Args:
        call: The call that they are written for.
        model: The name of the model, for counting.
    """

    def __init__(self, *, call: Call, model: str) -> None:
        self._call = call
        self._model = model
        self._loop = asyncio.get_running_loop()
        self._heard: asyncio.Queue[tuple[int, Event | Failure]] = asyncio.Queue()
        self._began = time.monotonic()
        self._tickets: list[Ticket] = []
        self._searched = False
        self._n_open = 0
        self.n_written = 0
        """Tokens so far."""

    def start(self, scheduler: Scheduler, requests: Sequence[Request], *, scored: bool) -> None:
        """Hands the requests in; on a thread, since a scheduler may be in the middle of a step.

        Raises:
            Busy: There is no room for all of them.
            DecodingError: There would not be, even if nobody else asked.
        """
        errand, settings = self._call.errand, self._call.desk.settings
        most = settings.rows + settings.waiting
        if len(requests) > most:
            raise DecodingError(
                "more texts than this server writes for one request",
                got=len(requests),
                expected=f"at most {most}, all prompts and choices counted",
                advice="several requests",
            )
        self._n_open = len(requests)
        self._searched = any(request.settings.beams > 1 for request in requests)
        try:
            for place, request in enumerate(requests):
                ticket = scheduler.submit(
                    request,
                    notify=lambda event, place=place: self._hear(place, event),
                    scored=scored,
                    deadline=errand.remaining,
                    client=errand.client,
                )
                self._tickets.append(ticket)
                errand.on_leave(ticket.cancel)
        except BaseException:
            errand.leave()
            raise

    async def events(self) -> AsyncIterator[tuple[int, Event]]:
        """Every event with the place of its request, until all texts have ended.

        Raises:
            ClearheadError: What ended a text before its time.
        """
        metrics = self._call.desk.metrics
        tokens = metrics.tokens.labels(model=self._model, kind="written")
        while self._n_open:
            place, event = await self._heard.get()
            if isinstance(event, Failure):
                self._call.errand.leave()
                raise event.error
            if not self.n_written:
                metrics.first_token.labels(model=self._model).observe(time.monotonic() - self._began)
            n_new = 1
            if event.finish is not None:
                self._n_open -= 1
                n_new = self._n_last(place)
            self.n_written += n_new
            tokens.inc(n_new)
            yield place, event

    def note(self) -> None:
        """Tells the log how much was written."""
        self._call.note(tokens_written=self.n_written)

    def _n_last(self, place: int) -> int:
        """Tokens that came with a text's last event: one, or all of them where beams decided only then."""
        reply = self._tickets[place].reply
        return len(reply.best.ids) if reply is not None and self._searched else 1

    def _hear(self, place: int, event: Event | Failure) -> None:
        with suppress(RuntimeError):  # the loop may be gone, and then nobody listens
            self._loop.call_soon_threadsafe(self._heard.put_nowait, (place, event))
