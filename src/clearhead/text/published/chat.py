"""Conversations as text: the template that a model was taught with, rendered in a sandbox.

Takes: messages, and a template.
Gives: the one text that the model reads.
Uses:  errors, words, published.budget, published.sandbox; jinja2.
Never: trusts a template; it is a program by a stranger.
"""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from jinja2 import Template, TemplateError
from jinja2.utils import Namespace

from clearhead.errors import TextError
from clearhead.text.published.budget import Budget, OverBudget, spending
from clearhead.text.published.sandbox import BoundedEnvironment
from clearhead.text.words import check_text

__all__ = ["render_chat"]


def render_chat(
    template: str, messages: Sequence[Mapping[str, object]], *, tokens: Mapping[str, str], add_generation_prompt: bool
) -> str:
    """The text of a conversation.

    Args:
        template: The program, in Jinja's language.
        messages: The messages in order.
        tokens: Special tokens by the names that templates use: bos_token, eos_token and so on.
        add_generation_prompt: Whether the text ends where the model's answer begins.
    """
    if not messages or isinstance(messages, (str, Mapping)):
        raise TextError("no messages", got=repr(messages)[:60], expected='a list of {"role": …, "content": …}')
    values = {"messages": _plain(list(messages)), "tools": None, "documents": None}
    mark = spending.set(Budget())
    try:
        return _compiled(template).render(**values, **tokens, add_generation_prompt=add_generation_prompt)
    except Exception as error:  # noqa: BLE001  (a stranger's program can fail in every way that Python has)
        raise _failed(error) from None
    finally:
        spending.reset(mark)


@functools.lru_cache(maxsize=16)
def _compiled(template: str) -> Template:
    values = {"raise_exception": _raise, "strftime_now": _now, "namespace": _Namespace}
    return BoundedEnvironment(filters={"tojson": _to_json}, values=values).from_string(template)


class _Namespace(Namespace):
    """A template's own variables, none of them with a name that Python keeps for itself."""

    def __init__(self, **values: Any) -> None:
        super().__init__()
        for name, value in values.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise TemplateError(f"a variable may not be called {name!r}")
        super().__setitem__(name, value)


def _raise(message: object) -> None:
    raise TemplateError(str(message))


def _now(pattern: str) -> str:
    if re.search(r"%\W?\d", pattern):
        raise OverBudget("a date with a width")
    return datetime.now().strftime(pattern)


def _to_json(
    value: object,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002  (templates may give it by position)
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _plain(value: object) -> object:
    """The same value made of nothing but text, numbers, lists and dicts, so that a template finds no methods in it."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(check_text(value))
    if isinstance(value, Mapping):
        entries = cast(Mapping[object, object], value)
        return {str(_plain(key)): _plain(item) for key, item in entries.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast(Sequence[object], value)]
    raise TextError(
        "a message with something else than text in it",
        got=type(value).__name__,
        expected="text, numbers, lists and dicts",
    )


def _failed(error: BaseException) -> TextError:
    return TextError(
        "a chat template that cannot be used on these messages",
        got=f"{type(error).__name__}: {str(error)[:200]}",
        expected="a template that renders text",
        advice="check the roles and the order of the messages; most templates want user and assistant in turn",
    )
