"""How to decode, as data."""

from dataclasses import dataclass
from enum import StrEnum

from clearhead.config.checks import require_types, short
from clearhead.errors import ConfigError, DecodingError

DEFAULT_NEW = 256
LONGEST = 1_000_000
_MOST_BEAMS = 256
_SEEDS = 2**63
_LARGEST_ID = 2**31 - 1
_COLDEST = 1e-6  # below, logits that float32 can tell apart leave the second likeliest no chance
_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 1e6),
    "top_k": (0, _LARGEST_ID),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "no_repeat_ngram": (0, LONGEST),
    "min_new_tokens": (0, LONGEST),
    "max_new_tokens": (0, LONGEST),
    "max_length": (1, LONGEST),
    "beams": (1, _MOST_BEAMS),
    "n_best": (1, _MOST_BEAMS),
    # A length of LONGEST to this power is still a float, and so is its inverse.
    "length_penalty": (-50.0, 50.0),
    "repetition_penalty": (1e-6, 1e6),
    "seed": (-_SEEDS, _SEEDS - 1),
    "forced_end": (0, _LARGEST_ID),
}


class EarlyStopping(StrEnum):
    """When a beam search stops looking for something better than what it has finished."""

    HEURISTIC = "heuristic"
    """When the best running beam, were it to end now, would not be better than the worst finished one."""
    ALWAYS = "always"
    """As soon as there are as many finished beams as beams."""
    NEVER = "never"
    """When no running beam can get better than the worst finished one, however long it grows."""


@dataclass(frozen=True, kw_only=True)
class DecodingSettings:
    """How the next id is chosen, and when to stop.

    Attributes:
        sample: Whether to draw by probability; otherwise the likeliest id is taken.
        temperature: What logits are divided by before drawing; 0 takes the likeliest.
        top_k: Draw among this many likeliest ids; 0 for all.
        top_p: Draw among the fewest ids whose probabilities sum to this.
        min_p: Draw among ids at least this share as likely as the likeliest.
        seed: The draws of a row are a function of it; None for another text each time.
        repetition_penalty: How much less likely an id becomes that is there already; 1 for not at all.
        no_repeat_ngram: No run of this many ids occurs twice; 0 for any.
        bad_words: Runs of ids that must not occur; an end id alone may, or no text would end.
        forced_start: The first new ids, whatever the model thinks.
        forced_end: The last id where the length runs out; None for what the model thinks.
        min_new_tokens: No end before this many new ids.
        max_new_tokens: At most this many new ids.
        max_length: At most this many ids with the prompt; what comes first of the two counts.
        end_ids: Ids that end a text; they are kept in the ids.
        stop: Strings that end a text; they are left out of the text.
        beams: How many texts to follow at once.
        length_penalty: The power of the length by which a beam's score is divided; above 0 favours long texts.
        early_stopping: When a beam search ends.
        n_best: How many beams to give back.
    """

    sample: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int | None = None
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    bad_words: tuple[tuple[int, ...], ...] = ()
    forced_start: tuple[int, ...] = ()
    forced_end: int | None = None
    min_new_tokens: int = 0
    max_new_tokens: int | None = None
    max_length: int | None = None
    end_ids: tuple[int, ...] = ()
    stop: tuple[str, ...] = ()
    beams: int = 1
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = EarlyStopping.HEURISTIC
    n_best: int = 1

    def __post_init__(self) -> None:
        try:
            require_types(self)
        except ConfigError as error:
            raise DecodingError(error.problem, got=error.got, expected=error.expected) from None
        self._check_numbers()
        self._check_ids()
        if any(not text for text in self.stop):
            raise DecodingError("a stop string that is empty", expected="at least one character")
        if self.n_best > self.beams:
            raise DecodingError(
                "more results than beams",
                got=f"n_best={self.n_best}, beams={self.beams}",
                expected="n_best at most beams",
                advice=f"beams={self.n_best}",
            )
        if self.beams > 1 and (self.sample or self.stop):
            raise DecodingError(
                "beams go with neither sampling nor stop strings",
                got=f"beams={self.beams}, sample={self.sample}, stop={list(self.stop)}",
                advice="beams=1, or without the other",
            )

    @property
    def draws(self) -> bool:
        """Whether ids are drawn; where it is too cold the likeliest is the only one left."""
        return self.sample and self.temperature >= _COLDEST

    def n_new(self, *, prompt_length: int, default: int = DEFAULT_NEW) -> int:
        """How many new ids are allowed after a prompt.

        Args:
            prompt_length: The ids that are there already.
            default: What counts where the settings say nothing.
        """
        limits = [self.max_new_tokens, None if self.max_length is None else self.max_length - prompt_length]
        return min((limit for limit in limits if limit is not None), default=default)

    def _check_numbers(self) -> None:
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise DecodingError(f"{name} is out of range", got=short(value), expected=f"from {least} to {most}")
        if self.top_p == 0:
            raise DecodingError("top_p is out of range", got=self.top_p, expected="more than 0")

    def _check_ids(self) -> None:
        if any(not word for word in self.bad_words):
            raise DecodingError("a bad word that is empty", expected="at least one id")
        for name in ("end_ids", "forced_start", "bad_words"):
            value = getattr(self, name)
            for index in (index for word in value for index in word) if name == "bad_words" else value:
                if not 0 <= index <= _LARGEST_ID:
                    raise DecodingError(f"an id in {name} that cannot be one", got=short(index), expected="0 or more")
