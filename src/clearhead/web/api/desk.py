"""What all endpoints of one server share: models, threads, queues, counters, and who may ask."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from clearhead.config import Family
from clearhead.engine.serving import Limits, Load, ReadingQueue, Scheduler
from clearhead.errors import Closed
from clearhead.model import Model
from clearhead.tasks import Loaded, SearchIndex
from clearhead.tasks.defaults import EMBEDDED
from clearhead.web.api.bounds import ServeSettings
from clearhead.web.api.errand import Errand
from clearhead.web.api.faults import Refusal
from clearhead.web.api.keys import Keys, Rates
from clearhead.web.api.metrics import Metrics
from clearhead.web.api.scheduled import queued, scheduled
from clearhead.web.api.workers import Workers
from clearhead.web.shelf import Shelf

Result = TypeVar("Result")
_TURN_SECONDS = 0.05
_LOOKERS = 2


class Desk:
    """The state of one server; none of it is a user's, and all of it can be lost.

    Args:
        shelf: The models.
        settings: What whoever started the server decided.
    """

    def __init__(self, *, shelf: Shelf, settings: ServeSettings) -> None:
        self.shelf = shelf
        self.settings = settings
        self.keys = Keys(tokens=settings.tokens)
        self.rates = Rates(a_minute=settings.rate)
        self.metrics = Metrics()
        self.workers = Workers(threads=settings.rows, waiting=settings.waiting)
        self.starters = Workers(threads=settings.rows, waiting=settings.waiting)
        """For what only hands a request in, which is soon done: it does not wait for what takes long."""
        self.lookers = Workers(threads=_LOOKERS, waiting=settings.waiting)
        """For what runs alone: the threads of those that wait are not taken from others."""
        self.since = int(time.time())
        self.stopping = False
        self._closed = False
        self.unfinished = 0
        """Requests that were cut off when the server stopped."""
        self._lock = threading.Lock()
        self._schedulers: dict[str, Scheduler] = {}
        self._queues: dict[str, ReadingQueue] = {}
        self._served: dict[str, Loaded] = {}
        self._index: SearchIndex | None = None

    def known(self, name: str) -> str:
        """The name of a model that is here.

        Raises:
            Refusal: There is none of that name.
        """
        if name not in self.shelf.names:
            raise Refusal(
                status=404,
                problem="no such model here",
                got=name[:100],
                expected=", ".join(self.shelf.names),
                advice="GET /v1/models lists them",
                param="model",
            )
        return name

    def model(self, name: str) -> Model:
        """A model by name, loaded when it is first asked for."""
        return self.shelf.model(self.known(name))

    def model_for(self, name: str | None, *verbs: str) -> Model:
        """The model that was named; otherwise the one that is made for a task, or the first here that can do it.

        Raises:
            Refusal: None here can.
        """
        if name is not None:
            return self.model(name)
        made_for = [EMBEDDED[verb] for verb in verbs if verb in EMBEDDED]
        names = [one for one in made_for if one in self.shelf.names] + self.shelf.names
        for one in names:
            model = self.model(one)
            if any(verb in model.verbs for verb in verbs if verb != "choose"):
                return model
        raise Refusal(
            status=404,
            problem=f"no model here can {verbs[-1]}",
            got=", ".join(self.shelf.names),
            advice="a server that was started with a model that can",
        )

    def scheduler(self, model: Model) -> Scheduler:
        """What writes many texts of a model at once.

        Raises:
            Closed: The server is stopping.
        """
        with self._lock:
            self._check_open()
            if model.name not in self._schedulers:
                limits = Limits(most_rows=self.settings.rows, most_waiting=self.settings.waiting)
                self._schedulers[model.name] = Scheduler(engine=model.loaded.engine, limits=limits)
            return self._schedulers[model.name]

    def served(self, model: Model) -> Loaded:
        """A model whose tasks run in common batches with every other request for it.

        Raises:
            Closed: The server is stopping.
        """
        writes = model.family is not Family.ENCODER_ONLY
        scheduler = self.scheduler(model) if writes else None
        with self._lock:
            self._check_open()
            if model.name not in self._served:
                if scheduler is not None:
                    self._served[model.name] = scheduled(model.loaded, scheduler)
                else:
                    queue = self._queues[model.name] = ReadingQueue(network=model.loaded.reader)
                    self._served[model.name] = queued(model.loaded, queue)
            return self._served[model.name]

    def alone(self, job: Callable[[], Result], errand: Errand) -> Result:
        """Does a job on this thread while no other job of the kind runs; one at a time is as fast as the cores go."""
        while not self.shelf.busy.acquire(timeout=_TURN_SECONDS):
            errand.check()
        try:
            errand.check()
            return job()
        finally:
            self.shelf.busy.release()

    def index(self, model: Model) -> SearchIndex:
        """The index that the server was given.

        Raises:
            Refusal: It was given none.
        """
        if self.settings.index is None:
            raise Refusal(
                status=400, problem="texts are needed: this server has no index", got="no texts", expected="texts"
            )
        with self._lock:
            if self._index is None:
                self._index = SearchIndex.load(self.settings.index, model.loaded)
            return SearchIndex(index=self._index.index, loaded=self._served.get(model.name, model.loaded))

    def loads(self) -> dict[str, Load]:
        """How much each scheduler has to do."""
        with self._lock:
            return {name: scheduler.load() for name, scheduler in self._schedulers.items()}

    def wind_up(self) -> None:
        """Lets what is being written end within the time that settings give; the rest is told that it will not."""
        self.unfinished += self.close(grace=self.settings.grace)

    def close(self, *, grace: float) -> int:
        """Ends all schedulers and queues within one time; gives how many texts were not finished."""
        until = time.monotonic() + grace
        with self._lock:
            self._closed = True
            schedulers, self._schedulers = list(self._schedulers.values()), {}
            queues, self._queues = list(self._queues.values()), {}
        for queue in queues:
            if not len(queue):  # one that has something to read goes on until the process ends
                queue.close()
        return sum(scheduler.close(grace=max(0.0, until - time.monotonic())) for scheduler in schedulers)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("the server is closing", advice="another server, or this one when it is back")
