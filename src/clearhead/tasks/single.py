"""One text as one request, whole: what is looked into is not cut into sentences first."""

from typing import Any

from clearhead.config import Family
from clearhead.engine import Request
from clearhead.errors import TextError
from clearhead.tasks.completion import capped, writing_settings
from clearhead.tasks.language_pairs import Instruction, instruction
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import settings_of
from clearhead.tasks.sources import prompt_ids, source_ids
from clearhead.tasks.translation import USUAL
from clearhead.text.words import check_text


def translates(loaded: Loaded, to: str | None) -> bool:
    """Whether a text for this model is one to translate."""
    if loaded.config.family is not Family.ENCODER_DECODER:
        if to is not None:
            raise TextError("this model does not translate", got=f"to={to!r}", expected="no language")
        return False
    return to is not None or loaded.checkpoint.family == "marian"


def text_ids(loaded: Loaded, text: str, *, to: str | None = None) -> tuple[int, ...]:
    """The ids of a prompt or of a source, with whatever tells the model its task.

    Raises:
        TextError: A language that the model does not know, or none where it knows several.
    """
    if not translates(loaded, to):
        return prompt_ids(loaded, check_text(text))
    return _source(loaded, text, instruction(loaded, to=to, source=None))


def single_request(loaded: Loaded, text: str, *, to: str | None = None, **options: Any) -> Request:
    """The request that `translate` or `complete` would make for this text, were it one sentence.

    Args:
        loaded: The model.
        text: The text to go on with, or the source.
        to: The language to write, where the model translates.
        **options: How to decode, by the names of DecodingSettings.
    """
    if translates(loaded, to):
        told = instruction(loaded, to=to, source=None)
        settings = settings_of(loaded, usual=USUAL, asked=options, tasks=told.tasks)
        return Request(ids=_source(loaded, text, told), settings=settings)
    ids = text_ids(loaded, text, to=to)
    return Request(ids=ids, settings=capped(loaded, writing_settings(loaded, options), ids, options))


def _source(loaded: Loaded, text: str, told: Instruction) -> tuple[int, ...]:
    return source_ids(loaded, [check_text(text)], prefix=told.prefix, tag=told.tag)[0]
