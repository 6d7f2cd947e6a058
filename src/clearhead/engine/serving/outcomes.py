"""From logits to what becomes of every job: what one of them cannot do is not the others' concern."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from clearhead.decoding import Event, choose
from clearhead.engine.serving.jobs import BeamJob, Job, RowJob
from clearhead.engine.serving.ticket import Failure

Choice = tuple[int, float | None]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a step brought for a job.

    Attributes:
        job: The job.
        parents: For every text that goes on, the row of the logits that it goes on from.
        note: What whoever asked is told; None for nothing.
    """

    job: Job
    parents: list[int]
    note: Event | Failure | None


def outcomes(logits_BV: Float[Tensor, "B V"], jobs: Sequence[Job], rows: Sequence[list[int]]) -> list[Outcome]:
    """Takes every job one id further.

    Args:
        logits_BV: The logits of all jobs' texts.
        jobs: The jobs.
        rows: The rows of each job in the logits.
    """
    plain = [(job, places[0]) for job, places in zip(jobs, rows, strict=True) if isinstance(job, RowJob)]
    chosen = dict(zip((job for job, _ in plain), _chosen(logits_BV, plain), strict=True))
    found: list[Outcome] = []
    for job, places in zip(jobs, rows, strict=True):
        try:
            if isinstance(job, RowJob):
                event: Event | None = _accepted(job, chosen[job])
                parents = [] if job.ended else places
            else:
                assert isinstance(job, BeamJob)
                parents, event = job.advance(logits_BV[places])
                parents = [places[parent] for parent in parents]
            found.append(Outcome(job=job, parents=parents, note=event))
        except Exception as error:  # noqa: BLE001  (whatever it is, it is told, and the others go on)
            job.ended = True
            found.append(Outcome(job=job, parents=[], note=Failure(error=error)))
    return found


def _accepted(job: RowJob, choice: Choice | Exception) -> Event:
    if isinstance(choice, Exception):
        raise choice
    return job.accept(*choice)


def _chosen(logits_BV: Tensor, plain: Sequence[tuple[RowJob, int]]) -> list[Choice] | list[Choice | Exception]:
    """The next ids of all texts at once; one by one where that fails."""
    if not plain:
        return []
    places = [place for _, place in plain]
    if places != list(range(logits_BV.shape[0])):
        logits_BV = logits_BV[places]
    rows = [job.row for job, _ in plain]
    try:
        return choose(logits_BV, rows)
    except Exception:  # noqa: BLE001  (found again below, with whose fault it is)
        return [_one(logits_BV[place : place + 1], job) for place, (job, _) in enumerate(plain)]


def _one(logits_BV: Tensor, job: RowJob) -> Choice | Exception:
    try:
        return choose(logits_BV, [job.row])[0]
    except Exception as error:  # noqa: BLE001  (as above)
        return error
