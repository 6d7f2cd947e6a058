"""The checks that every configuration makes of its own values."""

import math
from dataclasses import fields
from enum import EnumType, StrEnum
from functools import cache
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from clearhead.errors import ConfigError

LARGEST_SIZE = 2**31 - 1
"""Beyond this a size is a mistake, or an attack by a config file."""


def require_types(record: object) -> None:
    """Raises unless every field of a configuration holds what its annotation says."""
    for name, hint, surely in _hints(type(record)):
        value = getattr(record, name)
        if type(value) not in surely and not _fits(value, hint):
            raise ConfigError(f"{name} has a value of another kind", got=short(value), expected=_spell(hint))


def require_size(name: str, value: int, *, least: int = 1, most: int = LARGEST_SIZE) -> None:
    """Raises unless a whole number is at least `least`, and no larger than any such size can be."""
    if not least <= value <= most:
        raise ConfigError(
            f"{name} is out of range",
            got=f"{name}={short(value)}",
            expected=f"a whole number, {least} to {most}",
        )


def require_share(name: str, value: float) -> None:
    """Raises unless a value is a probability that leaves something."""
    if not 0 <= value < 1:
        raise ConfigError(f"{name} must be a share", got=f"{name}={short(value)}", expected="0 <= share < 1")


def require_positive(name: str, value: float) -> None:
    """Raises unless a number is finite and above 0."""
    try:
        fits = value > 0 and math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        fits = False
    if not fits:
        raise ConfigError(f"{name} must be above 0", got=f"{name}={short(value)}", expected="a finite number above 0")


def divisors(number: int) -> str:
    """The divisors of a width, as advice for a number of heads."""
    found = [str(d) for d in range(1, min(number, 128) + 1) if number % d == 0]
    return f"a divisor of {number}: {', '.join(found)}"


def short(value: object) -> str:
    """A value as a message can hold it."""
    try:
        text = repr(value)
    except ValueError:  # Python does not spell out whole numbers of thousands of digits
        text = "a very large number"
    return text if len(text) <= 100 else text[:100] + "…"


@cache
def _hints(kind: type[Any]) -> list[tuple[str, Any, frozenset[type]]]:
    """Every field of a configuration, its annotation, and the types whose values need no further look."""
    hints = get_type_hints(kind)
    return [(field.name, hints[field.name], _plain(hints[field.name])) for field in fields(kind)]


def _plain(hint: Any) -> frozenset[type]:
    """The types all of whose values fit an annotation."""
    if isinstance(hint, UnionType):
        return frozenset[type]().union(*map(_plain, get_args(hint)))
    if not isinstance(hint, type) or get_origin(hint) is not None:
        return frozenset()
    return frozenset((int, float)) if hint is float else frozenset((hint,))


def _fits(value: object, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(item, get_args(hint)[0]) for item in cast("tuple[Any]", value))
    if hint in (int, float):
        # Python counts True among the whole numbers, and takes those for real ones.
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    return isinstance(value, hint)


def _spell(hint: Any) -> str:
    if isinstance(hint, UnionType):
        return " or ".join(_spell(option) for option in get_args(hint))
    if isinstance(hint, EnumType):
        return ", ".join(str(choice) for choice in cast("type[StrEnum]", hint))
    return _SPELLED.get(hint, getattr(hint, "__name__", "a tuple"))


_SPELLED: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
    str: "text",
}
