"""The token ids that steer a model."""

from dataclasses import dataclass

from clearhead.config.checks import require_size, require_types
from clearhead.config.record import RECORD


@dataclass(frozen=True, kw_only=True)
class TokenIds:
    """The ids that begin, end and pad.

    Attributes:
        pad: Fills a batch; None where a model has none.
        start: Begins a text.
        end: Any of these ends one.
        decoder_start: Begins a target, where an encoder-decoder writes one.
    """

    __pydantic_config__ = RECORD

    pad: int | None = None
    start: int | None = None
    end: tuple[int, ...] = ()
    decoder_start: int | None = None

    def __post_init__(self) -> None:
        require_types(self)
        for name, value in (("pad", self.pad), ("start", self.start), ("decoder_start", self.decoder_start)):
            if value is not None:
                require_size(f"the {name} id", value, least=0)
        for value in self.end:
            require_size("an end id", value, least=0)
