"""What is asked of the engine, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from clearhead.decoding import BeamCandidate, DecodingSettings, Event, Finish, Row


@dataclass(frozen=True, kw_only=True)
class Request:
    """One text to go on with, or one source to write a target for.

    Attributes:
        ids: The ids of the prompt, or of the source of an encoder-decoder.
        prefix: The ids that the target of an encoder-decoder begins with, after its start id.
        settings: How to decode.
        draw: Which of several draws with one seed this is.
    """

    ids: tuple[int, ...]
    prefix: tuple[int, ...] = ()
    settings: DecodingSettings = field(default_factory=DecodingSettings)
    draw: int = 0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One text that was written.

    Attributes:
        ids: The new ids, an end id included.
        text: Their text; empty where the engine has no tokenizer.
        finish: Why it ended.
        score: The sum of the log-probabilities, divided by the length penalty where there were beams; None unless
            asked for.
        log_probabilities: What the model thought of each id; empty unless asked for.
    """

    ids: tuple[int, ...]
    text: str
    finish: Finish
    score: float | None = None
    log_probabilities: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """All that was written for one request.

    Attributes:
        answers: The best first.
        steps: Every candidate of every step of a beam search; empty unless asked for.
    """

    answers: tuple[Answer, ...]
    steps: tuple[tuple[BeamCandidate, ...], ...] = ()

    @property
    def best(self) -> Answer:
        """The first answer."""
        return self.answers[0]


def answer_of(row: Row, events: Sequence[Event]) -> Answer:
    """What a row that has ended wrote."""
    text = "".join(event.text for event in events)
    if row.finish is Finish.CANCELLED and row.text is not None:
        text += row.text.close()
    scores = tuple(event.log_probability for event in events if event.log_probability is not None)
    assert row.finish is not None
    return Answer(
        ids=tuple(event.id for event in events),
        text=text,
        finish=row.finish,
        score=sum(scores) if row.scored else None,
        log_probabilities=scores,
    )
