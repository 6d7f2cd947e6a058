"""What a beam search found, and all that happened on the way."""

from dataclasses import dataclass
from enum import StrEnum

from clearhead.decoding.row import Finish


class Fate(StrEnum):
    """What became of a candidate."""

    RUNNING = "running"
    """It is one of the beams of the next step."""
    FINISHED = "finished"
    """It ended, and is among the best that ended so far."""
    DROPPED = "dropped"
    """Others were better."""


@dataclass(frozen=True, kw_only=True)
class BeamCandidate:
    """One way to go on at one step.

    Attributes:
        parent: The running beam that it continues, by its place among the beams before the step.
        id: The id that it adds.
        log_probability: The sum over its ids, this one included.
        score: The sum divided by the length penalty where it ended; the sum itself where it runs.
        fate: What became of it.
        place: Its place among the running beams after the step; None where it does not run.
    """

    parent: int
    id: int
    log_probability: float
    score: float
    fate: Fate
    place: int | None = None


@dataclass(frozen=True, kw_only=True)
class Beam:
    """A text that a beam search finished.

    Attributes:
        ids: Its new ids, the end id included.
        score: The sum of its log-probabilities, divided by the power of its length.
        finish: Why it ended.
    """

    ids: tuple[int, ...]
    score: float
    finish: Finish


@dataclass(frozen=True, kw_only=True)
class BeamResult:
    """What a beam search found for one prompt.

    Attributes:
        beams: The finished beams, the best first.
        steps: All candidates of each step, the likeliest first; empty unless they were asked for.
    """

    beams: tuple[Beam, ...]
    steps: tuple[tuple[BeamCandidate, ...], ...] = ()
