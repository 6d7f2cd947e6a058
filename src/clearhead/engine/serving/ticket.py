"""What whoever asked holds in the hand, and hears."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event as Flag

from clearhead.decoding import Event
from clearhead.engine.request import Reply


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The last word on a request that was not answered.

    Attributes:
        error: Why.
    """

    error: Exception


Notify = Callable[[Event | Failure], None]


class Ticket:
    """A request that was taken.

    Args:
        number: What its events are known by.
        wake: Tells the scheduler that something was withdrawn.

    Attributes:
        reply: The whole reply, as `Engine.generate` gives it; None until the last event is told.
    """

    def __init__(self, *, number: int, wake: Callable[[], None]) -> None:
        self.number = number
        self.reply: Reply | None = None
        self._withdrawn = Flag()
        self._wake = wake

    def cancel(self) -> None:
        """Withdraws the request; unless it has ended, its last word is a `Failure` that holds `Withdrawn`."""
        self._withdrawn.set()
        self._wake()

    @property
    def withdrawn(self) -> bool:
        """Whether it was cancelled."""
        return self._withdrawn.is_set()
