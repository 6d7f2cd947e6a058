"""Which row of the batch a text had at each step of a beam search."""

from collections.abc import Sequence

from clearhead.decoding import BeamCandidate
from clearhead.engine import Reply


def path_of(reply: Reply, ids: tuple[int, ...]) -> tuple[list[int], list[float]]:
    """The row that a finished text had at each step, and the log-probability of each of its ids."""
    row, total = 0, 0.0
    rows: list[int] = []
    scores: list[float] = []
    for place, index in enumerate(ids):
        rows.append(row)
        found = _candidate(reply.steps[place], row, index)
        scores.append(found.log_probability - total)
        total = found.log_probability
        row = found.place if found.place is not None else 0
    return rows, scores


def _candidate(step: Sequence[BeamCandidate], parent: int, index: int) -> BeamCandidate:
    return next(one for one in step if one.parent == parent and one.id == index)
