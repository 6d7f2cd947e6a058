"""The running batch: jobs in its rows, which they take, leave and change between steps."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.engine.serving.benches import Held, new_bench
from clearhead.engine.serving.jobs import Job
from clearhead.models import DecoderOnly, EncoderDecoder, Recurrent


class Batch:
    """Jobs and their rows.

    Args:
        network: The model.

    Attributes:
        jobs: The jobs that have rows, in the order of their first rows.
    """

    def __init__(self, *, network: DecoderOnly | EncoderDecoder | Recurrent) -> None:
        self._bench = new_bench(network)
        self.jobs: list[Job] = []

    @property
    def n_rows(self) -> int:
        """Rows in the batch."""
        return self._bench.n_rows

    @property
    def positions(self) -> int:
        """Positions that memory is held for."""
        return self._bench.positions

    def join(self, job: Job, held: Held) -> None:
        """Gives a job rows of its own, with what the model remembers of it."""
        first = self._bench.n_rows
        self._bench.put(held)
        job.rows, job.held = list(range(first, self._bench.n_rows)), None
        self.jobs.append(job)

    def hold(self, job: Job) -> Held:
        """A copy of what the model remembers of a job."""
        return self._bench.take(job.rows)

    def step(self) -> Float[Tensor, "B V"]:
        """The logits of the next id of every row; where it raises, all is as it was."""
        ids = [0] * self._bench.n_rows
        for job in self.jobs:
            for row, index in zip(job.rows, job.last_ids, strict=True):
                ids[row] = index
        return self._bench.step(torch.tensor(ids))

    def step_apart(self) -> dict[Job, Tensor | Exception]:
        """A step for every job by itself, for when one of all together failed; those whose step fails leave."""
        jobs = self.jobs
        held = [self.hold(job) for job in jobs]
        self.keep([])
        found: dict[Job, Tensor | Exception] = {}
        after: list[Held] = []
        for job, before in zip(jobs, held, strict=True):
            try:
                self._bench.put(before)
                found[job] = self._bench.step(torch.tensor(job.last_ids))
                after.append(self._bench.take(list(range(self._bench.n_rows))))
            except Exception as error:  # noqa: BLE001  (told to whoever asked)
                found[job] = error
            finally:
                self._bench.keep([])
        for job, kept in zip([job for job in jobs if isinstance(found[job], Tensor)], after, strict=True):
            self.join(job, kept)
        return found

    def keep(self, wanted: Sequence[tuple[Job, list[int]]]) -> None:
        """Goes on with these jobs, each with rows that come from these places; the others have none any more.

        A row stays where it is if it can, so that little is copied.
        """
        n_rows = sum(len(origins) for _, origins in wanted)
        origin_of: dict[int, int] = {}
        later: list[tuple[Job, int, int]] = []
        for job in self.jobs:
            job.rows = []
        for job, origins in wanted:
            job.rows = [-1] * len(origins)
            for place, origin in enumerate(origins):
                if origin < n_rows and origin not in origin_of:
                    job.rows[place], origin_of[origin] = origin, origin
                else:
                    later.append((job, place, origin))
        free = (row for row in range(n_rows) if row not in origin_of)
        for (job, place, origin), row in zip(later, list(free), strict=True):
            job.rows[place], origin_of[row] = row, origin
        if later or n_rows != self._bench.n_rows:
            self._bench.keep([origin_of[row] for row in range(n_rows)])
        self.jobs = sorted((job for job, _ in wanted), key=lambda job: job.rows[0])
