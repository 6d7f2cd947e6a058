"""Settings from YAML files and from `train.lr=3e-4`, refusing what could be read in two ways.

Takes: a file, or overrides as a command line has them.
Gives: plain data, or checked `TrainSettings`.
Uses:  config, errors, text; yaml.
Never: a Python object that a file names, an alias that grows, or the last of two equal keys.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from clearhead.config import from_dict
from clearhead.config.checks import short
from clearhead.errors import ConfigError, TextError
from clearhead.text.files import read_bounded, replacing
from clearhead.training.settings import TrainSettings

__all__ = ["make_settings", "override", "parse_duration", "read_yaml", "write_yaml"]

MAX_BYTES = 2**20
_MAX_DEPTH = 12
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_KEY = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)*")


class _Loader(yaml.SafeLoader):
    """YAML without aliases, without repeated keys, and in which 3e-4 is a number."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):  # pyright: ignore[reportUnknownMemberType]  # the library is untyped
            raise yaml.YAMLError("an alias (*name), which settings do not need")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise yaml.YAMLError(f"more than {_MAX_DEPTH} levels")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        keys = Counter(str(key.value) for key, _ in node.value)
        if repeated := [key for key, n_times in keys.items() if n_times > 1]:
            raise yaml.YAMLError(f"the key {short(repeated[0])} twice")
        return super().construct_mapping(node, deep=deep)


# YAML 1.1 takes 3e-4 for text, since it lacks a point.
_resolve = cast("Callable[[str, re.Pattern[str], list[str]], None]", getattr(_Loader, "add_implicit_resolver"))  # noqa: B009  (untyped)
_resolve("tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$", re.ASCII), list("-+0123456789"))


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        ConfigError: The file cannot be read, is not YAML, or is no mapping.
    """
    try:
        content = read_bounded(path, limit=MAX_BYTES).decode("utf-8")
        # A loader of ours, of the safe kind: it builds plain data only.
        data: object = yaml.load(content, Loader=_Loader)  # noqa: S506
    except TextError as error:
        raise ConfigError(error.problem, got=error.got, expected=error.expected, advice=error.advice) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError("a file whose YAML cannot be read", got=f"{path}: {error}") from None
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in cast("dict[object, object]", data)):
        raise ConfigError(
            "settings that are not a mapping", got=f"{path}: {short(cast(object, data))}", expected="key: value lines"
        )
    return cast("dict[str, Any]", data)


def write_yaml(path: Path, data: Mapping[str, Any]) -> None:
    """Writes plain data as YAML, wholly or not at all."""
    with replacing(path) as stream:
        stream.write(yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True).encode("utf-8"))


def override(data: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """Plain data with values replaced by overrides, each `dotted.key=value`.

    Raises:
        ConfigError: An override without a key or a value, or a key that leads through a value.
    """
    changed: dict[str, Any] = json.loads(json.dumps(data))
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not _KEY.fullmatch(key):
            raise ConfigError(
                "an override that says nothing", got=short(text), expected="key=value, as in train.lr=3e-4"
            )
        *path, last = key.split(".")
        place = changed
        for step in path:
            inner = place.setdefault(step, {})
            if not isinstance(inner, dict):
                raise ConfigError("a key that leads through a value", got=key, expected=f"{step} alone")
            place = cast("dict[str, Any]", inner)
        place[last] = _parse(value)
    return changed


def make_settings(data: Mapping[str, Any]) -> TrainSettings:
    """Settings from plain data, in which a duration may be written as `60m`.

    Raises:
        ConfigError: An unknown key, or a value that is not allowed.
    """
    plain = dict(data)
    budget = plain.get("time_budget")
    if isinstance(budget, str):
        plain["time_budget"] = parse_duration(budget)
    return from_dict(TrainSettings, plain)


def parse_duration(text: str) -> float:
    """The seconds that `90`, `45s`, `60m` or `1h30m` stand for.

    Raises:
        ConfigError: Something else.
    """
    found = _DURATION.fullmatch(text.strip()) if len(text) < 50 else None
    if not found or not any(found.groups()):
        raise ConfigError("a duration that cannot be read", got=short(text), expected="45s, 60m, 1h30m, or seconds")
    return sum(float(number) * unit for number, unit in zip(found.groups(), _UNITS.values(), strict=True) if number)


def _parse(text: str) -> Any:
    """The value that a word of a command line stands for: what JSON knows, or else text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return float(text) if _FLOAT.fullmatch(text) else text
