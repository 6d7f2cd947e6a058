"""Models whose tasks share one scheduler, or one queue: texts of many requests are written and read side by side."""

import queue
import time
from collections.abc import Callable, Sequence

from clearhead.decoding import Event
from clearhead.engine import Engine, Reply, Request
from clearhead.engine.serving import Failure, QueuedEncoder, ReadingQueue, Scheduler, Ticket
from clearhead.errors import Busy
from clearhead.tasks import Loaded
from clearhead.web.api.errand import Errand, current

_USUAL_SECONDS = 600.0
_PAUSE = 0.05


class ScheduledEngine(Engine):
    """An engine that writes in common batches with whoever else writes; what it answers is what it would alone.

    Args:
        engine: The engine that it stands for; its network is shared.
        scheduler: What writes.
    """

    def __init__(self, *, engine: Engine, scheduler: Scheduler) -> None:
        vars(self).update(vars(engine))  # the same network, prepared once
        self._scheduler = scheduler

    def generate(
        self,
        requests: Sequence[Request],
        *,
        scored: bool = False,
        record: bool = False,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Reply]:
        """Answers requests as the engine does; whoever leaves the errand cancels them."""
        del cancelled
        return _Together(scheduler=self._scheduler, errand=_errand(), scored=scored, record=record).replies(requests)


class _Together:
    """Several requests of one errand, handed to a scheduler, as many at once as it takes."""

    def __init__(self, *, scheduler: Scheduler, errand: Errand, scored: bool, record: bool) -> None:
        self._scheduler = scheduler
        self._errand = errand
        self._scored = scored
        self._record = record
        self._ended: queue.SimpleQueue[tuple[int, Event | Failure]] = queue.SimpleQueue()
        self._open: dict[int, Ticket] = {}

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """All replies, in the order of the requests."""
        replies: dict[int, Reply] = {}
        place = 0
        try:
            while len(replies) < len(requests):
                while place < len(requests) and self._hand_in(place, requests[place]):
                    place += 1
                ended = self._wait() if self._open else None
                if ended is not None:
                    reply = self._open.pop(ended).reply
                    assert reply is not None
                    replies[ended] = reply
        finally:
            for ticket in self._open.values():
                ticket.cancel()
        return [replies[place] for place in range(len(requests))]

    def _hand_in(self, place: int, request: Request) -> bool:
        """Hands in one request; False where the scheduler has enough to do, and it must be tried again."""

        def notify(event: Event | Failure) -> None:
            if isinstance(event, Failure) or event.finish is not None:
                self._ended.put((place, event))

        try:
            ticket = self._scheduler.submit(
                request,
                notify=notify,
                scored=self._scored,
                record=self._record,
                deadline=self._errand.remaining,
                client=self._errand.client,
            )
        except Busy:
            if not self._open and place == 0:
                raise
            if not self._open:
                time.sleep(_PAUSE)
                self._errand.check()
            return False
        self._open[place] = ticket
        self._errand.on_leave(ticket.cancel)
        return True

    def _wait(self) -> int | None:
        """The place of the next request that ends; None where none has ended for a while."""
        try:
            place, event = self._ended.get(timeout=_PAUSE)
        except queue.Empty:
            self._errand.check()
            return None
        if isinstance(event, Failure):
            del self._open[place]
            raise event.error
        return place


def scheduled(loaded: Loaded, scheduler: Scheduler) -> Loaded:
    """A model as tasks need it, whose texts a scheduler writes."""
    served = _copied(loaded)
    served.engine = ScheduledEngine(engine=loaded.engine, scheduler=scheduler)
    return served


def queued(loaded: Loaded, queue_: ReadingQueue) -> Loaded:
    """A model as tasks need it, whose texts are read in common batches."""
    served = _copied(loaded)
    served.reader = QueuedEncoder(
        network=loaded.reader, queue=queue_, client=lambda: _errand().client, check=lambda: _errand().check()
    )
    return served


def _errand() -> Errand:
    """What the calling thread works for."""
    return current.get() or Errand(seconds=_USUAL_SECONDS)


def _copied(loaded: Loaded) -> Loaded:
    return Loaded(
        checkpoint=loaded.checkpoint,
        tokenizer=loaded.own_tokenizer,
        name=loaded.name,
        weights=loaded.weights,
        overflow=loaded.overflow,
        folder=loaded.folder,
    )
