"""Lazy doors: a package whose names are imported when they are first asked for (PEP 562).

Takes: a package's name, and where each of its public names lives.
Gives: the `__getattr__` and the `__dir__` of that package.
Uses:  nothing.
Never: an import before it is needed.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["open_lazily"]


def open_lazily(package: str, doors: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The two functions that make a package lazy, to be named `__getattr__` and `__dir__` in it."""

    def find(name: str) -> object:
        if name not in doors:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(doors[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *doors})

    return find, names
