"""Many requests, one engine: who comes joins the running batch, who is answered leaves it."""

import itertools
import threading
import time
from contextvars import Context
from dataclasses import replace

import torch

from clearhead.engine.engine import Engine
from clearhead.engine.request import Request
from clearhead.engine.serving.admission import reserved
from clearhead.engine.serving.jobs import Asked, Job, new_job
from clearhead.engine.serving.limits import Limits, Load
from clearhead.engine.serving.ticket import Notify, Ticket
from clearhead.engine.serving.worker import Worker
from clearhead.errors import Busy, Closed, DecodingError

_DEFAULT = Limits()
_SOONEST, _LATEST = 1.0, 60.0


class Scheduler:
    """Runs one engine in a thread of its own; requests join and leave its batch between steps.

    A request gets the answer that `Engine.generate` gives it, whatever runs beside it.

    Args:
        engine: What writes.
        limits: How much is taken on.
    """

    def __init__(self, *, engine: Engine, limits: Limits = _DEFAULT) -> None:
        self._engine = engine
        self._limits = limits
        self._worker = Worker(engine=engine, limits=limits)
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._closes: float | None = None  # when what is not finished is given up
        self._unfinished = 0
        self._n_threads = torch.get_num_threads()
        # In a context of its own: what listens to the caller's probes does not hear other people's requests.
        self._thread = threading.Thread(target=Context().run, args=(self._run,), name="scheduler", daemon=True)
        self._thread.start()

    def submit(
        self,
        request: Request,
        *,
        notify: Notify,
        scored: bool = False,
        record: bool = False,
        deadline: float | None = None,
        client: str = "",
    ) -> Ticket:
        """Takes a request on.

        Args:
            request: What to answer.
            notify: Is told, from the scheduler's thread, every `Event` as it comes, the last of which has its
                `finish` set; or, once, a `Failure`. After either nothing more comes. A search with several beams
                has one event. It should be quick; where it raises, the request is withdrawn.
            scored: Whether events have log-probabilities.
            record: Whether the reply keeps every candidate of a beam search.
            deadline: Seconds from now after which it is given up with `Late`; None for never.
            client: On whose account it runs: clients take turns.

        Raises:
            Busy: Too many wait already.
            Closed: The scheduler is closing.
            DecodingError: It does not fit the model, or the scheduler's limits.
            TextError: It has no text.
        """
        now = time.monotonic()
        asked = Asked(
            request=self._engine.fitted(request),
            ticket=Ticket(number=next(self._numbers), wake=self._wake),
            notify=notify,
            scored=scored,
            record=record,
            client=client,
            deadline=None if deadline is None else now + deadline,
            begun=now,
        )
        job = new_job(asked, self._engine)
        self._check_fits(job)
        with self._changed:
            if self._closes is not None:
                raise Closed("the server is closing", advice="another server, or this one when it is back")
            waiting, limits = self._worker.admission.n_waiting, self._limits
            n_free = max(0, limits.most_rows - self._worker.load.running)  # who is on the way to one does not wait
            if waiting >= limits.most_waiting + n_free:
                raise Busy(
                    "too many requests are waiting",
                    retry_after=self._retry_after(waiting),
                    got=f"{waiting} waiting",
                    expected=f"fewer than {limits.most_waiting}",
                )
            self._worker.admission.fresh.push(job, client=client)
            self._changed.notify()
        return asked.ticket

    def load(self) -> Load:
        """What is done at the moment, and was done so far."""
        return replace(self._worker.load, waiting=self._worker.admission.n_waiting)

    def close(self, *, grace: float) -> int:
        """Takes nothing new, finishes what was taken, and ends the thread.

        Args:
            grace: Seconds until what is not finished is given up; each of these is told by a `Failure`.

        Returns:
            How many were not finished.
        """
        assert threading.current_thread() is not self._thread, "a listener cannot wait for its own end"
        with self._changed:
            if self._closes is None:
                self._closes = time.monotonic() + grace
            self._changed.notify()
        self._thread.join()
        return self._unfinished

    def _run(self) -> None:
        torch.set_num_threads(self._n_threads)  # a thread begins with its own idea of how many
        with torch.inference_mode():
            while self._has_work():
                self._worker.turn()
            self._unfinished = self._worker.give_up(_closed)

    def _has_work(self) -> bool:
        """Waits until there is something to do; False once all is over."""
        with self._changed:
            while self._worker.idle and self._closes is None:
                self._changed.wait()
            return self._closes is None or not (self._worker.idle or time.monotonic() >= self._closes)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify()

    def _check_fits(self, job: Job) -> None:
        limits, settings = self._limits, job.asked.request.settings
        if not settings.max_new_tokens:
            raise DecodingError("nothing to write", got="max_new_tokens=0", expected="1 or more")
        if job.n_rows > limits.most_rows:
            raise DecodingError(
                "more beams than this server has rows", got=job.n_rows, expected=f"at most {limits.most_rows}"
            )
        if reserved([job]) > limits.most_cache_tokens:
            raise DecodingError(
                "more text than this server keeps in memory",
                got=f"{reserved([job])} tokens, all beams, the source and the new ones counted",
                expected=f"at most {limits.most_cache_tokens}",
                advice="fewer new tokens, fewer beams, or a shorter text",
            )

    def _retry_after(self, waiting: int) -> float:
        """Seconds until about half of those who wait will have been answered."""
        each = self._worker.load.seconds / max(1, self._worker.finished)
        return min(max(each * waiting / 2, _SOONEST), _LATEST)


def _closed() -> Closed:
    return Closed("the server closed before the answer was there", advice="the same request, a little later")
