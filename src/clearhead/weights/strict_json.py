"""JSON from strangers: an object, or a WeightsError that names the file.

Takes: the bytes of a file, or a path.
Gives: a dict.
Uses:  errors; text, to read no more than allowed.
Never: builds a value before it knows that they are few and not deep, or takes the last of two equal keys.
"""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from clearhead.errors import TextError, WeightsError
from clearhead.text.files import read_bounded

__all__ = ["as_weights_error", "parse_object", "read_object"]

MAX_VALUES = 2**19
MAX_DEPTH = 16
_MOST_SHOWN = 120
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@contextmanager
def as_weights_error() -> Generator[None, None, None]:
    """Whatever the reading or writing of a file says, said as a WeightsError."""
    try:
        yield
    except TextError as error:
        raise WeightsError(error.problem, got=error.got, expected=error.expected, advice=error.advice) from None
    except OSError as error:
        raise WeightsError("a file that cannot be reached", got=error) from None


def read_object(path: Path, *, limit: int) -> dict[str, Any]:
    """The object in a JSON file of at most `limit` bytes."""
    with as_weights_error():
        if path.exists() and not path.is_file():
            raise WeightsError("something that is not a file where one is needed", got=path, expected="a JSON file")
        content = read_bounded(path, limit=limit)
    return parse_object(content, path=path)


def parse_object(content: bytes, *, path: Path) -> dict[str, Any]:
    """The object that JSON text spells.

    Raises:
        WeightsError: The text is not JSON, is no object, repeats a key, holds NaN, or would take far more
            memory as values than as text.
    """
    _check_structure(content, path)
    try:
        value: object = json.loads(content.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _not_json(path, error) from None
    if not isinstance(value, dict):
        raise _not_json(path, f"a {type(value).__name__}")
    return cast(dict[str, Any], value)


def _check_structure(content: bytes, path: Path) -> None:
    """Bound the number of values and their depth by the text alone.

    A list of empty lists takes twenty times its text, so size alone bounds nothing.
    """
    # Escaped quotes go first; then every quote opens or closes a string.
    bare = content.replace(rb"\\", b"").replace(rb"\"", b"")
    n_values = bare.count(b'"') // 4
    outside = b"".join(_between_strings(bare)) if n_values <= MAX_VALUES else b""
    n_values = max(n_values, outside.count(b",") + outside.count(b"[") + outside.count(b"{"))
    if n_values > MAX_VALUES:
        raise _not_json(path, f"about {n_values} values", expected=f"at most {MAX_VALUES} values")
    brackets = outside.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if brackets:
        raise _not_json(path, "brackets that do not close", expected=f"closed brackets, at most {MAX_DEPTH} deep")


def _between_strings(bare: bytes) -> Generator[bytes, None, None]:
    """What stands outside strings, in text whose every quote opens or closes one."""
    start = 0
    while (opening := bare.find(b'"', start)) >= 0:
        yield bare[start:opening]
        closing = bare.find(b'"', opening + 1)
        if closing < 0:
            return
        start = closing + 1
    yield bare[start:]


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the key {name[:_MOST_SHOWN]!r} twice")
        fields[name] = value
    return fields


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text}, which is not JSON")


def _not_json(path: Path, got: object, *, expected: str = "a JSON object, every key once") -> WeightsError:
    return WeightsError(
        "a file whose JSON cannot be read",
        got=f"{path}: {got}",
        expected=expected,
        advice="fetch the file again; it is damaged, or is not what its name says",
    )
