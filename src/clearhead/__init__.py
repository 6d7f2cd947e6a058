"""The Transformer with nothing hidden: run it, train it, serve it, and see every number it computes.

Takes: a name.
Gives: what that name stands for, imported when it is first asked for.
Uses:  every room, lazily.
Never: torch, numpy or any other heavy import before it is needed.
"""

from importlib import import_module

__version__ = "0.1.0"

_DOORS = {
    "AXES": "clearhead.axes",
    "ClearheadError": "clearhead.errors",
    "Edit": "clearhead.probe",
    "ModelConfig": "clearhead.config",
    "Recorder": "clearhead.probe",
    "RecurrentConfig": "clearhead.config",
    "Tokenizer": "clearhead.text",
    "build": "clearhead.models",
    "listen": "clearhead.probe",
    "preset": "clearhead.config",
    "train_tokenizer": "clearhead.text",
}

__all__ = ["__version__", *_DOORS]  # pyright: ignore[reportUnsupportedDunderAll]  (resolved by __getattr__)


def __getattr__(name: str) -> object:
    if name not in _DOORS:
        raise AttributeError(f"module 'clearhead' has no attribute {name!r}")
    value = getattr(import_module(_DOORS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_DOORS])
