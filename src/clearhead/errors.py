"""The exception tree: everything a user can cause is raised from here.

    ClearheadError
    ├── ConfigError        a configuration that cannot be built
    ├── TextError          text or token ids that a model cannot read
    ├── WeightsError       a checkpoint that cannot be loaded
    │   ├── MissingTensor
    │   ├── ShapeMismatch
    │   └── UnsafeFile
    ├── DecodingError      a request that no decoding can satisfy
    ├── TrainingError      a training run that cannot start or go on
    ├── TraceError         a site, an index or a trace file that does not exist
    └── ServerError        a server that cannot start or answer
        ├── Busy           too many wait already
        ├── Closed         the server is going away
        ├── Late           the deadline passed first
        └── Withdrawn      whoever asked does not want it any more

Takes: what went wrong.
Gives: a message that says got, expected, try.
Uses:  nothing.
Never: our own mistakes; those are assertions.
"""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "Busy",
    "ClearheadError",
    "Closed",
    "ConfigError",
    "DecodingError",
    "Late",
    "MissingTensor",
    "ServerError",
    "ShapeMismatch",
    "TextError",
    "TraceError",
    "TrainingError",
    "UnsafeFile",
    "WeightsError",
    "Withdrawn",
    "nearest",
]


class ClearheadError(Exception):
    """The root of the tree.

    Args:
        problem: What was wrong, in one sentence without a full stop.
        got: What was found.
        expected: What is allowed.
        advice: What to do about it; printed after "try".
    """

    def __init__(
        self,
        problem: str,
        *,
        got: object = None,
        expected: object = None,
        advice: str | None = None,
    ) -> None:
        self.problem = problem
        self.got = got
        self.expected = expected
        self.advice = advice
        super().__init__(problem)

    def __str__(self) -> str:
        lines = [self.problem]
        for label, value in (("got", self.got), ("expected", self.expected), ("try", self.advice)):
            if value is not None:
                lines.append(f"  {label + ':':<9} {value}")
        return "\n".join(lines)


class ConfigError(ClearheadError):
    """A configuration that cannot be built."""


class TextError(ClearheadError):
    """Text or token ids that a model cannot read."""


class WeightsError(ClearheadError):
    """A checkpoint that cannot be loaded."""


class MissingTensor(WeightsError):
    """A tensor that the model needs and the checkpoint lacks."""


class ShapeMismatch(WeightsError):
    """A tensor whose shape is not the one that the model needs."""


class UnsafeFile(WeightsError):
    """A file that could only be opened by running what is inside it."""


class DecodingError(ClearheadError):
    """A request that no decoding can satisfy."""


class TrainingError(ClearheadError):
    """A training run that cannot start or go on."""


class TraceError(ClearheadError):
    """A site, an index or a trace file that does not exist."""


class ServerError(ClearheadError):
    """A server that cannot start or answer."""


class Busy(ServerError):
    """Too many requests wait already.

    Args:
        problem: What was wrong.
        retry_after: In how many seconds it is worth asking again.
        got: What was found.
        expected: What is allowed.
    """

    def __init__(self, problem: str, *, retry_after: float, got: object = None, expected: object = None) -> None:
        self.retry_after = retry_after
        super().__init__(problem, got=got, expected=expected, advice=f"again in {retry_after:.0f} seconds")


class Closed(ServerError):
    """The server is going away, and takes nothing new."""


class Late(ServerError):
    """The deadline passed before the answer was there."""


class Withdrawn(ServerError):
    """Whoever asked does not want the answer any more."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Advice that names the known spellings closest to a wrong one, or None."""
    close = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return "did you mean " + " or ".join(close) + "?" if close else None
