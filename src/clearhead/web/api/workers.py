"""Threads that work for requests, so that the event loop never does."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from clearhead.engine.serving.fair_queue import FairQueue
from clearhead.web.api.errand import Errand, current
from clearhead.web.api.faults import too_busy

Result = TypeVar("Result")
_USUAL_SECONDS = 1.0
_MEMORY = 0.9
"""How much of the past counts in the mean time of a job."""


class Workers:
    """A bounded number of jobs on a bounded number of threads, which do not keep the process alive.

    Where jobs wait, clients take turns.

    Args:
        threads: How many jobs run at once.
        waiting: How many more may wait.
    """

    def __init__(self, *, threads: int, waiting: int) -> None:
        self._most_threads = threads
        self._most_waiting = waiting
        self._jobs = FairQueue[Callable[[], None]]()
        self._n_handed_in = threading.Semaphore(0)
        self._n_threads = 0
        self._seconds = _USUAL_SECONDS
        self.pending = 0
        """Jobs that run or wait; only the event loop changes it."""

    async def run(self, work: Callable[[], Result], errand: Errand) -> Result:
        """Does a job on a thread, and waits for it.

        Raises:
            Refusal: Too many wait already; or nobody waits for this one by the time of its turn.
        """
        if self.pending >= self._most_threads + self._most_waiting:
            turns = self.pending / self._most_threads
            raise too_busy(waiting=self.pending - self._most_threads, retry_after=self._seconds * turns)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        self._start_thread()
        self.pending += 1
        self._jobs.push(lambda: self._do(lambda: context.run(_for, errand, work), loop, done), client=errand.client)
        self._n_handed_in.release()
        return await done

    def _do(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop, done: asyncio.Future[Any]) -> None:
        began = time.monotonic()
        result: Any = None
        failure: BaseException | None = None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  (whatever it is, the one who waits must hear of it)
            failure = error
        seconds = time.monotonic() - began
        with suppress(RuntimeError):  # the loop may be gone, and then nobody waits
            loop.call_soon_threadsafe(self._finish, done, result, failure, seconds)

    def _finish(self, done: asyncio.Future[Any], result: Any, failure: BaseException | None, seconds: float) -> None:
        self.pending -= 1  # here, since a job that nobody waits for any more still has its thread
        self._seconds = _MEMORY * self._seconds + (1 - _MEMORY) * seconds
        if done.cancelled():
            return
        if failure is None:
            done.set_result(result)
        else:
            done.set_exception(failure)

    def _start_thread(self) -> None:
        if self._n_threads < self._most_threads and self.pending >= self._n_threads:
            self._n_threads += 1
            threading.Thread(target=self._serve, name=f"worker-{self._n_threads}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._n_handed_in.acquire()
            self._jobs.pop()()


def _for(errand: Errand, work: Callable[[], Result]) -> Result:
    current.set(errand)
    errand.check()
    return work()
