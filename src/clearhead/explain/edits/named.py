"""Edits by name, as the command line spells them: `ablate:decoder.1.cross:head=2`."""

import inspect
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from clearhead.errors import ConfigError, nearest
from clearhead.explain.edits.heads import ablate, scale_scores
from clearhead.explain.edits.patterns import look_at
from clearhead.explain.edits.places import drop, open_mask, swap
from clearhead.explain.edits.streams import skip
from clearhead.probe import Edit

EDITS: Mapping[str, Callable[..., Edit]] = MappingProxyType(
    {
        "ablate": ablate,
        "scale": scale_scores,
        "look": look_at,
        "drop": drop,
        "swap": swap,
        "open-mask": open_mask,
        "skip": skip,
    }
)
"""Every edit that needs no second run, by its name on the command line."""
_NOT_SPELT = ("mean_of",)
_WHOLE = r"[0-9]{1,9}"
_REAL = r"-?[0-9]{1,9}(\.[0-9]{1,9})?"


def _several(value: str) -> list[int]:
    return [int(one) for one in value.split("+")]


_VALUES: Mapping[str, tuple[str, str, Callable[[str], Any]]] = {
    "query": (_WHOLE, "a whole number from 0 up", int),
    "head": (rf"{_WHOLE}(\+{_WHOLE})*", "a whole number, or several joined by +: 0+2", _several),
    "position": (rf"{_WHOLE}(\+{_WHOLE})*", "a whole number, or several joined by +: 0+2", _several),
    "weights": (
        rf"{_REAL}(\+{_REAL})*",
        "numbers joined by +: 0.5+0.5",
        lambda value: [float(one) for one in value.split("+")],
    ),
    "factor": (_REAL, "a number", float),
    "normalise": ("true|false", "true or false", lambda value: value == "true"),
}
"""How the value of a setting is spelt; those that are not here are spelt like `query`."""


def parse_edit(text: str) -> Edit:
    """An edit from its name: the edit, the part, and settings separated by commas.

    ablate:decoder.1.cross:head=2      scale:encoder.*.self:factor=8      look:decoder.0.cross:query=2,key=0
    drop:encoder:position=3            swap:encoder:first=1,second=4      open-mask:decoder        skip:decoder.1

    Raises:
        ConfigError: No such edit, or settings that it does not have.
    """
    name, *rest = text.split(":")
    if name not in EDITS or len(rest) not in (1, 2) or not rest[0]:
        raise ConfigError(
            "an edit that is not known",
            got=text,
            expected="EDIT:PART or EDIT:PART:setting=value,… with one of " + ", ".join(EDITS),
            advice=nearest(name, EDITS),
        )
    make = EDITS[name]
    known = [
        one
        for one in inspect.signature(make).parameters.values()
        if one.kind is inspect.Parameter.KEYWORD_ONLY and one.name not in _NOT_SPELT
    ]
    given = dict(_setting(pair, text) for pair in rest[1].split(",")) if len(rest) == 2 and rest[1] else {}
    names = [one.name for one in known]
    missing = [one.name for one in known if one.default is inspect.Parameter.empty and one.name not in given]
    if missing or not set(given) <= set(names):
        odd = next((key for key in given if key not in names), "")
        raise ConfigError(
            f"{name} has other settings",
            got=text,
            expected=", ".join(names) or "none",
            advice=nearest(odd, names) if odd else f"it needs {', '.join(missing)}",
        )
    return make(rest[0], **given)


def _setting(pair: str, text: str) -> tuple[str, Any]:
    name, separator, value = pair.partition("=")
    if not separator:
        raise ConfigError("a setting without a value", got=f"{pair!r} in {text}", expected="setting=value")
    pattern, expected, read = _VALUES.get(name, _VALUES["query"])
    if not re.fullmatch(pattern, value):
        raise ConfigError("a setting that cannot be read", got=f"{pair!r} in {text}", expected=expected)
    return name, read(value)
