"""Values whose type nobody has checked yet: from files by strangers, and from callers of pipelines."""

from collections.abc import Mapping
from typing import Any, cast


def as_record(value: Any) -> Mapping[str, Any]:
    """The value where it has keys; nothing otherwise."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def as_items(value: Any) -> list[Any]:
    """The items of a list or a tuple; the value alone otherwise."""
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else [value]
