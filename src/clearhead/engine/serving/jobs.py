"""Requests on their way: one text, or the beams of one search."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from clearhead.decoding import BeamSearch, Event, Row
from clearhead.engine.engine import Engine
from clearhead.engine.kernels.rows_of import lead
from clearhead.engine.limits import Overflow, context_of
from clearhead.engine.request import Reply, Request, answer_of
from clearhead.engine.serving.benches import Held
from clearhead.engine.serving.prefill import Text
from clearhead.engine.serving.ticket import Notify, Ticket
from clearhead.models import DecoderOnly


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request and all that belongs to it.

    Attributes:
        request: The request, made to fit.
        ticket: What whoever asked holds.
        notify: What whoever asked hears with.
        scored: Whether events have log-probabilities.
        record: Whether the reply keeps every candidate of a beam search.
        client: On whose account it runs.
        deadline: When it must be answered, by the monotonic clock; None for never.
        begun: When it was asked, by the same clock.
    """

    request: Request
    ticket: Ticket
    notify: Notify
    scored: bool = False
    record: bool = False
    client: str = ""
    deadline: float | None = None
    begun: float = 0.0


class Job(ABC):
    """A request that is being answered, and where it is.

    Args:
        asked: What is asked.
        engine: Whose request it is.

    Attributes:
        rows: Its rows in the batch; none while it has no place there.
        held: What the model remembers of it while it has none; None where its texts must be read.
        turn: New ids since it last joined the batch.
        gave_way: The step at which it last gave way to others.
        ended: Whether its last word was found.
    """

    def __init__(self, *, asked: Asked, engine: Engine) -> None:
        self.asked = asked
        self.rows: list[int] = []
        self.held: Held | None = None
        self.turn = 0
        self.gave_way = 0
        self.ended = False
        network, request = engine.network, asked.request
        self.n_rows = request.settings.beams
        self._source = request.ids
        self._window: int | None = None
        if isinstance(network, DecoderOnly):
            self._source = ()
            self._window = context_of(network.config.decoder) if engine.overflow is Overflow.SLIDE else None
        self._prompt_length = len(engine.prompt(request))
        self._first = 0 if self._window is None else max(0, self._prompt_length - self._window)
        longest = self._prompt_length + (request.settings.max_new_tokens or 0)
        self.longest = longest if self._window is None else min(longest, self._window)

    @property
    @abstractmethod
    def ids(self) -> list[tuple[int, ...]]:
        """All ids of every text of it, those before the first new one too."""

    @property
    @abstractmethod
    def last_ids(self) -> list[int]:
        """What every text of it goes on from."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Ids of each text of it."""

    @property
    def n_new(self) -> int:
        """New ids of each text of it."""
        return self.length - self._prompt_length

    @property
    def source_length(self) -> int:
        """Positions of its source."""
        return len(self._source)

    @property
    @abstractmethod
    def n_texts(self) -> int:
        """Texts of it that go on."""

    @property
    def n_unread(self) -> int:
        """Positions that must be read to go on, where nothing is remembered of it."""
        return self.n_texts * (self.length - self._first + self.source_length)

    def texts(self) -> list[Text]:
        """What must be read to go on."""
        return [Text(ids=ids[self._first :], source=self._source) for ids in self.ids]

    def slide(self) -> bool:
        """Whether the texts have outgrown the context; they go on with their later half, which must be read."""
        if self._window is None or self.length - self._first <= self._window:
            return False
        self._first = self.length - max(1, self._window // 2)
        return True


class RowJob(Job):
    """One text."""

    def __init__(self, *, asked: Asked, engine: Engine) -> None:
        super().__init__(asked=asked, engine=engine)
        self.row: Row = engine.new_row(asked.request, name=asked.ticket.number, scored=asked.scored)
        self._events: list[Event] = []

    @property
    def ids(self) -> list[tuple[int, ...]]:
        """All ids of its text."""
        return [tuple(self.row.ids)]

    @property
    def last_ids(self) -> list[int]:
        """What its text goes on from."""
        return self.row.ids[-1:]

    @property
    def n_texts(self) -> int:
        """One."""
        return 1

    @property
    def length(self) -> int:
        """Ids of its text."""
        return len(self.row.ids)

    def accept(self, index: int, score: float | None) -> Event:
        """Takes the id that was chosen for it."""
        event = self.row.accept(index, score)
        self._events.append(event)
        self.turn += 1
        if event.finish is not None:
            self.asked.ticket.reply = Reply(answers=(answer_of(self.row, self._events),))
            self.ended = True
        return event


class BeamJob(Job):
    """The beams of one search."""

    def __init__(self, *, asked: Asked, engine: Engine) -> None:
        super().__init__(asked=asked, engine=engine)
        self._engine = engine
        self._search = BeamSearch(
            prompt=engine.prompt(asked.request), settings=asked.request.settings, record=asked.record, lead=lead
        )

    @property
    def ids(self) -> list[tuple[int, ...]]:
        """All ids of every running beam."""
        return [(*self._search.prompt, *ids) for ids in self._search.running]

    @property
    def last_ids(self) -> list[int]:
        """What every running beam goes on from."""
        return [ids[-1] for ids in self._search.running]

    @property
    def n_texts(self) -> int:
        """The running beams."""
        return len(self._search.running)

    @property
    def length(self) -> int:
        """Ids of every running beam."""
        return len(self._search.prompt) + len(self._search.running[0])

    def advance(self, logits_BV: Float[Tensor, "B V"]) -> tuple[list[int], Event | None]:
        """Takes the search a step further: the parents of the beams that run on, or the event that ends it."""
        parents = self._search.advance(logits_BV)
        self.turn += 1
        if not self._search.done:
            return parents, None
        reply = self._engine.beam_reply(self._search.result(), self.asked.request)
        best = reply.best
        self.asked.ticket.reply, self.ended = reply, True
        event = Event(
            row=self.asked.ticket.number,
            id=best.ids[-1],
            log_probability=best.score,
            text=best.text,
            finish=best.finish,
        )
        return [], event


def new_job(asked: Asked, engine: Engine) -> RowJob | BeamJob:
    """The job of a request."""
    kind = BeamJob if asked.request.settings.beams > 1 else RowJob
    return kind(asked=asked, engine=engine)
