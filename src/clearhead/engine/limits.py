"""How much text fits a model, and what happens to more."""

from dataclasses import replace
from enum import StrEnum
from functools import lru_cache

from clearhead.config import StackConfig
from clearhead.decoding import DecodingSettings
from clearhead.errors import DecodingError


class Overflow(StrEnum):
    """What happens where a text outgrows the model's context."""

    ERROR = "error"
    """It is refused, with advice."""
    SLIDE = "slide"
    """The oldest half is forgotten, and the model goes on with the later half."""


def context_of(stack: StackConfig | None) -> int | None:
    """How many positions a stack was made for; None where it has no limit."""
    return None if stack is None else stack.position.max_length


def check_fits(length: int, *, context: int | None, what: str, advice: str) -> None:
    """Refuses a text that is longer than the context.

    Raises:
        DecodingError: It is.
    """
    if context is not None and length > context:
        raise DecodingError(
            f"{what} is longer than the model's context",
            got=f"{length} tokens",
            expected=f"at most {context}",
            advice=advice,
        )


@lru_cache(maxsize=256)
def fitted(
    settings: DecodingSettings, *, prompt_length: int, context: int | None, overflow: Overflow | None
) -> DecodingSettings:
    """The settings with their number of new ids made definite, within the context.

    Args:
        settings: What is asked for.
        prompt_length: The ids that are there already.
        context: How many the model was made for; None where it has no limit.
        overflow: What happens to more; None for a model that cannot slide.

    Raises:
        DecodingError: The prompt leaves no room, or more ids are asked for than there is room for.
    """
    if context is None or overflow is Overflow.SLIDE:
        n_new = settings.n_new(prompt_length=prompt_length)
        return replace(settings, max_new_tokens=max(n_new, 0), max_length=None)
    shorter = "a shorter text" if overflow is None else _SHORTER
    room = context - prompt_length
    asked = settings.n_new(prompt_length=prompt_length)
    if room < 1 and asked > 0:
        check_fits(prompt_length + 1, context=context, what="the text with one more token", advice=shorter)
    if settings.max_new_tokens is not None and asked > room:
        raise DecodingError(
            "more new tokens than the model's context has room for",
            got=f"{prompt_length} tokens and {asked} new ones",
            expected=f"at most {context} together",
            advice=f"max_new_tokens={room}, or {shorter}",
        )
    return replace(settings, max_new_tokens=max(min(asked, room), 0), max_length=None)


_SHORTER = "a shorter text, or overflow='slide', which forgets the oldest half"
