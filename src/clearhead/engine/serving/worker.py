"""What a scheduler's thread does: one turn after another.

A turn  1. lets go of what nobody wants any more,
        2. seats those who are next, as far as there is room,
        3. reads a piece of a prompt, and
        4. takes everybody in the batch one id further.
"""

import time
from collections.abc import Callable, Sequence

from torch import Tensor

from clearhead.config import RotaryScalingKind
from clearhead.decoding import Event
from clearhead.engine.engine import Engine
from clearhead.engine.serving.admission import Admission
from clearhead.engine.serving.batch import Batch
from clearhead.engine.serving.jobs import Job
from clearhead.engine.serving.limits import Limits, Load
from clearhead.engine.serving.outcomes import Outcome, outcomes
from clearhead.engine.serving.reading_room import ReadingRoom
from clearhead.engine.serving.ticket import Failure
from clearhead.errors import Late, Withdrawn
from clearhead.models import Recurrent

_ALL_AT_ONCE = 2**31


class Worker:
    """The running batch of an engine, and those on their way into it.

    Args:
        engine: What writes.
        limits: How much is taken on.
    """

    def __init__(self, *, engine: Engine, limits: Limits) -> None:
        alone = _depends_on_company(engine)
        self.admission = Admission(limits=limits, alone=alone)
        self._network = engine.network
        self._piece = _ALL_AT_ONCE if alone else limits.prompt_tokens
        self._notes: list[tuple[Job, Event | Failure]] = []
        self._taken: set[Job] = set()  # from the queue of the fresh, and not ended
        self._begin()
        self.finished = 0
        self._tokens = 0
        self._steps = 0
        self._seconds = 0.0
        self.load = self._load()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.admission.n_waiting or self._seated)

    def turn(self) -> None:
        """Does a little for everybody."""
        start = time.monotonic()
        try:
            self._let_go(start)
            self._seat()
            self._read()
            self._step()
        except Exception as error:  # noqa: BLE001  (those who are seated are told, and the others go on)
            parked = self.admission.parked.items()
            self._fail([job for job in self._taken if job not in parked], error)
            self._begin()
        self._seconds += time.monotonic() - start
        self._tell()

    def give_up(self, why: Callable[[], Exception]) -> int:
        """Ends everything; gives how many jobs were not finished."""
        jobs = [job for job in (*self._seated, *self.admission.empty()) if not job.ended]
        for job in jobs:
            self._fail([job], why())
        self._begin()
        self._tell()
        return len(jobs)

    def _begin(self) -> None:
        """Empty rows."""
        self._batch = Batch(network=self._network)
        self._room = ReadingRoom(network=self._network, piece=self._piece)

    @property
    def _seated(self) -> list[Job]:
        """Those that have rows, or are promised some."""
        return [*self._batch.jobs, *self._room.jobs]

    def _let_go(self, now: float) -> None:
        self.admission.drop(lambda job: self._is_over(job, now))
        gone = [job for job in self._seated if self._is_over(job, now)]
        if gone:
            self._room.drop(gone)
            self._batch.keep([(job, job.rows) for job in self._batch.jobs if not job.ended])

    def _is_over(self, job: Job, now: float) -> bool:
        """Whether a job ends here, and not by itself."""
        asked = job.asked
        if asked.ticket.withdrawn:
            self._note(job, Failure(error=Withdrawn("the request was withdrawn")))
        elif asked.deadline is not None and now >= asked.deadline:
            error = Late(
                "the deadline passed before the answer was there",
                got=f"{job.n_new} new tokens in {now - asked.begun:.1f} seconds",
                advice="fewer new tokens, or a later deadline",
            )
            self._note(job, Failure(error=error))
        return job.ended

    def _seat(self) -> None:
        """Gives rows to those who are next: to all who need no reading, and to as many as can be read at once."""
        while not self._room.full:
            found = self.admission.next(self._seated, step=self._steps)
            if found is None:
                return
            job, leaving = found
            self._taken.add(job)
            self._park(leaving)
            self.admission.make_room([*self._seated, job])
            job.turn = 0
            if job.held is None:
                self._room.enter(job)
            else:
                self._batch.join(job, job.held)

    def _park(self, leaving: Sequence[Job]) -> None:
        """Lets jobs give way: what the model remembers of them is put aside."""
        for job in leaving:
            job.held, job.gave_way = self._batch.hold(job), self._steps
        if leaving:
            self._batch.keep([(job, job.rows) for job in self._batch.jobs if job not in leaving])
        for job in leaving:
            self.admission.parked.push(job, client=job.asked.client)

    def _read(self) -> None:
        for outcome, held in self._room.read():
            if self._goes_on(outcome):
                assert held is not None
                self._batch.join(outcome.job, held)

    def _step(self) -> None:
        jobs = self._batch.jobs
        if not jobs:
            return
        self._steps += 1
        try:
            logits_BV = self._batch.step()
        except Exception:  # noqa: BLE001  (found again below, with whose fault it is)
            self._step_apart()
            return
        self._settle(outcomes(logits_BV, jobs, [job.rows for job in jobs]))

    def _step_apart(self) -> None:
        found: list[Outcome] = []
        for job, logits_BV in self._batch.step_apart().items():
            if isinstance(logits_BV, Tensor):
                [one] = outcomes(logits_BV, [job], [list(range(len(job.rows)))])
                found.append(Outcome(job=job, parents=[job.rows[parent] for parent in one.parents], note=one.note))
            else:
                found.append(Outcome(job=job, parents=[], note=Failure(error=logits_BV)))
        self._settle(found)

    def _settle(self, found: Sequence[Outcome]) -> None:
        """Gives rows to those that go on."""
        self._batch.keep([(outcome.job, outcome.parents) for outcome in found if self._goes_on(outcome)])

    def _goes_on(self, outcome: Outcome) -> bool:
        """Whether a job needs rows of the batch; a text that has outgrown the context is read again first."""
        self._tokens += not isinstance(outcome.note, Failure)
        if outcome.note is not None:
            self._note(outcome.job, outcome.note)
        if not outcome.job.ended and outcome.job.slide():
            self._room.enter(outcome.job)
            return False
        return not outcome.job.ended

    def _fail(self, jobs: Sequence[Job], error: Exception) -> None:
        for job in jobs:
            if not job.ended:
                self._note(job, Failure(error=error))

    def _note(self, job: Job, note: Event | Failure) -> None:
        """Remembers what is to be told once everything is in order."""
        self._notes.append((job, note))
        if isinstance(note, Failure) or note.finish is not None:
            job.ended = True
            self._taken.discard(job)
            self.finished += 1

    def _tell(self) -> None:
        """Tells everybody what happened; who cannot listen is not written for."""
        self.load = self._load()
        notes, self._notes = self._notes, []
        for job, note in notes:
            try:
                job.asked.notify(note)
            except Exception:  # noqa: BLE001  (a listener's own fault, which must not stop the others)
                job.asked.ticket.cancel()

    def _load(self) -> Load:
        return Load(
            running=len(self._seated),
            waiting=self.admission.n_waiting,
            rows=self._batch.n_rows,
            cache_tokens=self._batch.positions + self.admission.n_held,
            tokens=self._tokens,
            steps=self._steps,
            seconds=self._seconds,
        )


def _depends_on_company(engine: Engine) -> bool:
    """Whether a text's numbers depend on how long the texts beside it are: rotations that stretch do."""
    network = engine.network
    stack = None if isinstance(network, Recurrent) else network.config.decoder
    scaling = None if stack is None else stack.position.scaling
    return scaling is not None and scaling.kind is RotaryScalingKind.DYNAMIC
