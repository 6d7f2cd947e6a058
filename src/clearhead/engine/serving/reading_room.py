"""Where texts are read before they join the batch: short ones together, long ones in pieces, one piece a turn."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from clearhead.engine.serving.benches import Held
from clearhead.engine.serving.jobs import Job
from clearhead.engine.serving.outcomes import Outcome, outcomes
from clearhead.engine.serving.prefill import Prefill, new_prefill
from clearhead.engine.serving.ticket import Failure
from clearhead.models import DecoderOnly, EncoderDecoder, Recurrent

_MOST_AT_ONCE = 2
"""Groups that are read in turn: a long text, and others that need not wait until it is read."""


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Jobs whose texts are read together, and the rows of each."""

    jobs: list[Job]
    rows: list[list[int]]
    prefill: Prefill


class ReadingRoom:
    """Jobs on their way into the batch.

    Args:
        network: The model.
        piece: Positions that are read in a turn.
    """

    def __init__(self, *, network: DecoderOnly | EncoderDecoder | Recurrent, piece: int) -> None:
        self._network = network
        self._piece = piece
        self._unread: deque[Job] = deque()
        self._groups: deque[_Group] = deque()

    @property
    def jobs(self) -> list[Job]:
        """All jobs in the room."""
        return [*self._unread, *(job for group in self._groups for job in group.jobs if not job.ended)]

    @property
    def full(self) -> bool:
        """Whether as much waits here as is read in a turn."""
        return sum(job.n_unread for job in self._unread) >= self._piece

    def enter(self, job: Job) -> None:
        """Takes a job whose texts must be read."""
        job.rows = []
        self._unread.append(job)

    def drop(self, jobs: Collection[Job]) -> None:
        """Lets go of jobs; what is read in company is read to the end, and forgotten."""
        self._unread = deque(job for job in self._unread if job not in jobs)
        self._groups = deque(group for group in self._groups if not all(job.ended for job in group.jobs))

    def read(self) -> list[tuple[Outcome, Held | None]]:
        """Reads a piece: what becomes of those whose texts are read, and what the model remembers of them."""
        if self._unread and len(self._groups) < _MOST_AT_ONCE:
            self._groups.append(self._group(self._together()))
        if not self._groups:
            return []
        group = self._groups.popleft()
        try:
            logits_BV = group.prefill.read()
        except Exception as error:  # noqa: BLE001  (told to whoever asked, once it is known whose fault it is)
            return self._apart(group, error)
        if logits_BV is None:
            self._groups.append(group)
            return []
        live = [(job, rows) for job, rows in zip(group.jobs, group.rows, strict=True) if not job.ended]
        found = outcomes(logits_BV, [job for job, _ in live], [rows for _, rows in live])
        return [(one, self._held(group, one, rows)) for one, (_, rows) in zip(found, live, strict=True)]

    def _together(self) -> list[Job]:
        """The next jobs whose texts fit one piece together, padding counted; at least one."""
        jobs = [self._unread.popleft()]
        n_rows, longest = jobs[0].n_texts, jobs[0].n_unread // jobs[0].n_texts
        while self._unread:
            job = self._unread[0]
            n_rows, longest = n_rows + job.n_texts, max(longest, job.n_unread // job.n_texts)
            if n_rows * longest > self._piece:
                break
            jobs.append(self._unread.popleft())
        return jobs

    def _group(self, jobs: list[Job]) -> _Group:
        texts = [job.texts() for job in jobs]
        rows: list[list[int]] = []
        first = 0
        for its in texts:
            rows.append(list(range(first, first + len(its))))
            first += len(its)
        every = [text for its in texts for text in its]
        return _Group(jobs=jobs, rows=rows, prefill=new_prefill(self._network, every, piece=self._piece))

    def _apart(self, group: _Group, error: Exception) -> list[tuple[Outcome, Held | None]]:
        """What becomes of a group that could not be read: each job is read by itself, unless it was."""
        live = [job for job in group.jobs if not job.ended]
        if len(group.jobs) > 1:
            self._groups.extend(self._group([job]) for job in live)
            return []
        for job in live:
            job.ended = True
        return [(Outcome(job=job, parents=[], note=Failure(error=error)), None) for job in live]

    def _held(self, group: _Group, outcome: Outcome, rows: list[int]) -> Held | None:
        if not outcome.parents:
            return None
        held = group.prefill.held(range(rows[0], rows[-1] + 1))
        return held.select([parent - rows[0] for parent in outcome.parents])
