"""Who gets a row next, and who gives way.

Fresh requests and those that gave way are served in turn, in each of the two queues one client after another. Where
there is no room, texts that have had their slice give way, those of the client with the most rows first; what
gave way comes back after as many steps as a slice has. What the model remembers of those who wait is kept as
long as memory allows; after that their texts are read again.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from clearhead.engine.serving.fair_queue import FairQueue
from clearhead.engine.serving.jobs import Job
from clearhead.engine.serving.limits import Limits


class Admission:
    """The queues of a scheduler, and its rules.

    Args:
        limits: How much is taken on.
        alone: Whether requests run one at a time, without giving way.
    """

    def __init__(self, *, limits: Limits, alone: bool) -> None:
        self.fresh, self.parked = FairQueue[Job](), FairQueue[Job]()
        self._limits = limits
        self._alone = alone
        self._fresh_last = False

    @property
    def n_waiting(self) -> int:
        """Jobs without rows."""
        return len(self.fresh) + len(self.parked)

    @property
    def n_held(self) -> int:
        """Positions that are remembered of jobs that gave way."""
        return sum(job.held.positions for job in self.parked.items() if job.held is not None)

    def drop(self, unwanted: Callable[[Job], bool]) -> None:
        """Takes jobs that nobody wants out of the queues."""
        for queue in (self.fresh, self.parked):
            for job in queue.items():
                if unwanted(job):
                    queue.remove(job, client=job.asked.client)

    def empty(self) -> list[Job]:
        """Takes all jobs out of the queues."""
        return [queue.pop() for queue in (self.fresh, self.parked) for _ in range(len(queue))]

    def next(self, seated: Sequence[Job], *, step: int) -> tuple[Job, list[Job]] | None:
        """The job that is served next, taken from its queue, and those that give way to it; None for nobody.

        Args:
            seated: Those that have rows, or are promised some.
            step: The number of the step.
        """
        queues = (self.parked, self.fresh) if self._fresh_last else (self.fresh, self.parked)
        for queue in queues:
            job = queue.peek()
            if job is None:
                continue
            waited = queue is self.fresh or step - job.gave_way >= self._limits.slice_tokens
            leaving = self._leaving(job, seated, others=waited)
            if leaving is not None:
                self._fresh_last = queue is self.fresh
                return queue.pop(), leaving
            if waited:  # nobody else takes the rows that this one waits for
                return None
        return None

    def _leaving(self, job: Job, seated: Sequence[Job], *, others: bool) -> list[Job] | None:
        """Those who must give way so that a job fits, perhaps nobody; None where it does not fit in any case."""
        if self._fits(job, seated):
            return []
        may_leave = [one for one in seated if one.rows and one.turn >= self._limits.slice_tokens]
        if self._alone or not others or not may_leave:
            return None
        rows_of = Counter[str]()
        for one in seated:
            rows_of[one.asked.client] += one.n_rows
        may_leave.sort(key=lambda one: (-rows_of[one.asked.client], -one.turn))
        staying, leaving = list(seated), list[Job]()
        for one in may_leave:
            staying.remove(one)
            leaving.append(one)
            if self._fits(job, staying):
                return leaving
        return None

    def _fits(self, job: Job, seated: Sequence[Job]) -> bool:
        everybody = [*seated, job]
        n_rows = sum(one.n_rows for one in everybody)
        return (
            (not self._alone or not seated)
            and n_rows <= self._limits.most_rows
            and reserved(everybody) <= self._limits.most_cache_tokens
        )

    def make_room(self, seated: Sequence[Job]) -> None:
        """Forgets what is remembered of those who gave way, the last ones first, until the rest fits."""
        waiting = self.parked.items()
        room = self._limits.most_cache_tokens - reserved(seated)
        held = sum(job.held.positions for job in waiting if job.held is not None)
        while held > room and waiting:
            job = waiting.pop()
            if job.held is not None:
                held -= job.held.positions
                job.held = None


def reserved(jobs: Sequence[Job]) -> int:
    """Positions that jobs may grow to together: a batch is as wide as its longest text and source."""
    if not jobs:
        return 0
    return sum(job.n_rows for job in jobs) * (max(job.longest for job in jobs) + max(job.source_length for job in jobs))
