"""How much a scheduler takes on, and how much it has at the moment."""

from dataclasses import dataclass, fields

from clearhead.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What bounds a scheduler's memory and everybody's waiting.

    Attributes:
        most_rows: Rows of the running batch; a search with several beams takes as many rows.
        most_waiting: Requests that wait for a row where none is free; beyond, new ones are refused.
        most_cache_tokens: Positions that the running rows may grow to together, padding and sources counted.
        prompt_tokens: Prompt positions that are read between two steps; a longer prompt is read in pieces.
        slice_tokens: New ids after which a text gives way, where others wait for its row.
    """

    most_rows: int = 32
    most_waiting: int = 256
    most_cache_tokens: int = 32_768
    prompt_tokens: int = 256
    slice_tokens: int = 32

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name == "most_waiting" else 1
            if type(value) is not int or value < least:
                raise ConfigError(f"{field.name} is out of range", got=value, expected=f"{least} or more")


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a scheduler does at the moment, and has done so far.

    Attributes:
        running: Requests that are being answered.
        waiting: Requests that have no row, those that gave way counted.
        rows: Rows of the batch.
        cache_tokens: Positions that memory is held for, the spare ones counted.
        tokens: New ids in total.
        steps: Steps of the batch in total.
        seconds: Time spent working in total.
    """

    running: int
    waiting: int
    rows: int
    cache_tokens: int
    tokens: int
    steps: int
    seconds: float
