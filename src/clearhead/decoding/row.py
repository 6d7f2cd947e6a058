"""One text that is being decoded."""

import secrets
from dataclasses import dataclass
from enum import StrEnum

from clearhead.decoding.processors import forbidden
from clearhead.decoding.settings import DecodingSettings
from clearhead.decoding.text_stream import TextStream


class Finish(StrEnum):
    """Why a text ended."""

    END = "end"
    """An end id was chosen."""
    STOP = "stop"
    """A stop string was written."""
    LENGTH = "length"
    """The length ran out."""
    CANCELLED = "cancelled"
    """Nobody wanted more."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """An id that was chosen.

    Attributes:
        row: The name of the row.
        id: The id.
        log_probability: What the model itself thought of the id, before any setting; None unless asked for.
        text: The text that became certain with this id; whole characters only.
        finish: Why this was the last; None if it was not.
    """

    row: int
    id: int
    log_probability: float | None
    text: str
    finish: Finish | None


class Row:
    """One text on its way.

    Args:
        name: What its events are known by.
        prompt: The ids that are there before the first new one.
        settings: How to go on from there.
        text: Turns ids into text as they come; needed for stop strings.
        scored: Whether its events have log-probabilities.
        draw: Which of several draws with one seed this is.
    """

    def __init__(
        self,
        *,
        name: int,
        prompt: tuple[int, ...],
        settings: DecodingSettings,
        text: TextStream | None = None,
        scored: bool = False,
        draw: int = 0,
    ) -> None:
        assert text is not None or not settings.stop, "stop strings need a text"
        self.name = name
        self.ids = list(prompt)
        self.prompt_length = len(prompt)
        self.settings = settings
        self.forbidden = forbidden(settings)
        self.text = text
        self.scored = scored
        self.seed = (secrets.randbits(62) if settings.seed is None else settings.seed) + draw
        self.n_most = settings.n_new(prompt_length=len(prompt))
        self.finish: Finish | None = None if self.n_most > 0 else Finish.LENGTH

    @property
    def n_new(self) -> int:
        """The ids that were chosen so far."""
        return len(self.ids) - self.prompt_length

    def cancel(self) -> None:
        """Ends the row before its next id."""
        self.finish = self.finish or Finish.CANCELLED

    def accept(self, index: int, log_probability: float | None) -> Event:
        """Takes the id that was chosen for it."""
        self.ids.append(index)
        ended = index in self.settings.end_ids
        text = "" if self.text is None or ended else self.text.push(index)
        if ended:
            self.finish = Finish.END
        elif self.text is not None and self.text.stopped:
            self.finish = Finish.STOP
        elif self.n_new >= self.n_most:
            self.finish = Finish.LENGTH
        if self.finish is not None and self.text is not None:
            text += self.text.close()
            if self.text.stopped:  # by what was held back until now, it may be
                self.finish = Finish.STOP
        return Event(row=self.name, id=index, log_probability=log_probability, text=text, finish=self.finish)
