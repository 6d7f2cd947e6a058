"""Conversations: the next message, in the form that the model was taught, or in a plain one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from clearhead.config import Family
from clearhead.engine import Request
from clearhead.errors import TextError
from clearhead.tasks.completion import capped, continuations, stream_ids, writing_settings
from clearhead.tasks.foreign_values import as_items, as_record
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import prompt_ids
from clearhead.tasks.written import Written
from clearhead.text.words import check_text

Messages = Sequence[Mapping[str, object]]

_NAMES = {"user": "User", "assistant": "Assistant"}
_PLAIN_STOP = "\nUser:"


def chat(loaded: Loaded, messages: Messages, **options: Any) -> Written:
    """Writes the next message of a conversation.

    Where the tokenizer has a chat template, the model reads what that makes of the messages. Where it has none, it
    reads them as a dialogue, one speaker a line, and stops where the user would speak again. An encoder-decoder
    reads a single message as it is.

    Args:
        loaded: The model.
        messages: The messages in order, each with a `role` (system, user, assistant) and a `content`.
        **options: How to decode, as for `complete`.

    Raises:
        ConfigError: A model that does not write.
        TextError: Messages that are none.
    """
    ids, options = _asked(loaded, messages, options)
    written = continuations(loaded, [ids], **options)[0][0]
    return replace(written, text=written.text.lstrip())


def stream_chat(loaded: Loaded, messages: Messages, **options: Any) -> Iterator[str]:
    """Writes the next message piece by piece; together the pieces are what `chat` gives. Closing it cancels."""
    ids, options = _asked(loaded, messages, options)
    return _begun(stream_ids(loaded, ids, **options))


def chat_request(loaded: Loaded, messages: Messages, **options: Any) -> Request:
    """What the engine is asked where `chat` is, for somebody who hands it in elsewhere."""
    ids, options = _asked(loaded, messages, options)
    return Request(ids=ids, settings=capped(loaded, writing_settings(loaded, options), ids, options))


def chat_prompt(loaded: Loaded, messages: Messages) -> tuple[int, ...]:
    """The ids of a conversation, up to where the next message begins."""
    checked = _checked(messages)
    if loaded.tokenizer.chat_template is not None:
        text = loaded.tokenizer.chat(messages)
        return loaded.tokenizer.encode(text, add_special=False).ids  # the template spells out the special tokens
    if loaded.config.family is Family.ENCODER_DECODER and len(checked) == 1:
        return prompt_ids(loaded, checked[0][1])
    lines = [content if role == "system" else f"{_NAMES.get(role, role)}: {content}" for role, content in checked]
    return prompt_ids(loaded, "\n".join([*lines, f"{_NAMES['assistant']}:"]))


def _asked(loaded: Loaded, messages: Messages, options: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Any]]:
    loaded.require("chat")
    ids = chat_prompt(loaded, messages)
    asked = dict(options)
    plain = loaded.tokenizer.chat_template is None and loaded.config.family is Family.DECODER_ONLY
    if plain and not asked.get("stop") and (asked.get("beams") or 1) == 1:
        asked["stop"] = [_PLAIN_STOP]
    return ids, asked


def _checked(messages: Messages) -> list[tuple[str, str]]:
    """Roles and contents; a content may be a list of parts, of which the texts count."""
    if not messages or isinstance(messages, (str, Mapping)):
        raise TextError("no messages", got=repr(messages)[:60], expected='a list of {"role": …, "content": …}')
    found: list[tuple[str, str]] = []
    for message in as_items(messages):
        role, content = (as_record(message).get(key) for key in ("role", "content"))
        parts = [as_record(part).get("text") for part in as_items(content)]
        if not isinstance(content, str) and any(isinstance(part, str) for part in parts):
            content = "".join(part for part in parts if isinstance(part, str))
        if not isinstance(role, str) or not isinstance(content, str):
            raise TextError("a message without a role or a content", got=repr(message)[:100], expected="both, as text")
        found.append((role, check_text(content)))
    return found


def _begun(pieces: Iterator[str]) -> Iterator[str]:
    """Pieces from the first letter on."""
    begun = False
    try:
        for piece in pieces:
            text = piece if begun else piece.lstrip()
            if text:
                begun = True
                yield text
    finally:
        cast("Any", pieces).close()
