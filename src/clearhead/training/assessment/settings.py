"""How a model is assessed."""

from collections.abc import Callable
from dataclasses import dataclass

from clearhead.config.checks import require_size, require_types

Report = Callable[[str, int, int], None]
"""Told what is being done, how many examples are done, and of how many."""

_MOST = 2**31


@dataclass(frozen=True, kw_only=True)
class AssessmentSettings:
    """How a model is assessed.

    Attributes:
        to: The language that a translator writes, where a record does not say it.
        source: The language that it reads.
        beams: Beams of its translations.
        whole: Whether a segment of several sentences is read at once; otherwise sentence by sentence, which is what
            users of the model get.
        batch: Examples at a time.
        worst: How many of the worst examples to show.
        seed: What chooses the tokens that are hidden from a masked language model.
    """

    to: str | None = None
    source: str | None = None
    beams: int = 5
    whole: bool = False
    batch: int = 64
    worst: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        require_types(self)
        require_size("beams", self.beams, most=64)
        require_size("batch", self.batch, most=_MOST)
        require_size("worst", self.worst, least=0, most=_MOST)
        require_size("seed", self.seed, least=0, most=_MOST)
