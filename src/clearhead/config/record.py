"""Configurations to plain data and back, refusing what they do not know.

from_dict(ModelConfig, to_dict(config)) == config
"""

import json
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from clearhead.config.checks import short
from clearhead.errors import ConfigError, nearest

Record = TypeVar("Record")

_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")

RECORD = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""What pydantic must refuse; every configuration carries it as `__pydantic_config__`."""


def to_dict(record: object) -> dict[str, Any]:
    """A configuration as data that JSON can hold."""
    assert is_dataclass(record) and not isinstance(record, type), "only configurations become records"
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def from_dict(kind: type[Record], data: object) -> Record:
    """A configuration from data, checked.

    Raises:
        ConfigError: An unknown or missing key, or a value that is not allowed.
    """
    try:
        # As JSON, because there a choice is a string and a tuple is a list, and nothing else is converted.
        return _adapter(kind).validate_json(json.dumps(data))
    except ValidationError as error:
        raise _explain(kind, error) from None
    except (TypeError, ValueError, RecursionError):
        raise ConfigError(
            "a configuration that is not plain data", got=short(data), expected="what JSON can hold"
        ) from None


@cache
def _adapter(kind: type[Any]) -> Any:
    return TypeAdapter(kind)


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    return to_dict(value) if is_dataclass(value) else value


def _explain(kind: type[Any], error: ValidationError) -> ConfigError:
    errors = error.errors()
    # A misspelt key is also a missing one; the misspelling is the better thing to say.
    first = next((item for item in errors if item["type"] in _UNKNOWN), errors[0])
    path = ".".join(str(step) for step in first["loc"]) or kind.__name__
    if first["type"] in _UNKNOWN:
        known = [field.name for field in fields(_owner(kind, first["loc"][:-1]))]
        key = str(first["loc"][-1])
        return ConfigError("an unknown key", got=path, expected=", ".join(known), advice=nearest(key, known))
    if first["type"] in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return ConfigError("a key is missing", got=f"no {path}", expected=f"a value for {path}")
    return ConfigError(f"{path} has a value that is not allowed", got=short(first["input"]), expected=first["msg"])


def _owner(kind: type[Any], path: tuple[int | str, ...]) -> type[Any]:
    """The configuration class that a path of keys leads to."""
    for step in path:
        hints = {field.name: field.type for field in fields(kind)}
        options = getattr(hints.get(str(step)), "__args__", (hints.get(str(step)),))
        kind = next((option for option in options if isinstance(option, type) and is_dataclass(option)), kind)
    return kind
