"""The Transformer with nothing hidden: run it, train it, serve it, and see every number it computes.

Takes: a name.
Gives: what that name stands for, imported when it is first asked for.
Uses:  every room, lazily.
Never: torch, numpy or any other heavy import before it is needed.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.axes import AXES as AXES
    from clearhead.config import ModelConfig as ModelConfig
    from clearhead.config import RecurrentConfig as RecurrentConfig
    from clearhead.config import preset as preset
    from clearhead.errors import ClearheadError as ClearheadError
    from clearhead.model import Model as Model
    from clearhead.model import load as load
    from clearhead.models import build as build
    from clearhead.probe import Edit as Edit
    from clearhead.probe import Recorder as Recorder
    from clearhead.probe import listen as listen
    from clearhead.tasks import pipeline as pipeline
    from clearhead.text import Tokenizer as Tokenizer
    from clearhead.text import train_tokenizer as train_tokenizer

__version__ = "0.1.0"

_DOORS = {
    "AXES": "clearhead.axes",
    "ClearheadError": "clearhead.errors",
    "Edit": "clearhead.probe",
    "Model": "clearhead.model",
    "ModelConfig": "clearhead.config",
    "Recorder": "clearhead.probe",
    "RecurrentConfig": "clearhead.config",
    "Tokenizer": "clearhead.text",
    "build": "clearhead.models",
    "listen": "clearhead.probe",
    "load": "clearhead.model",
    "pipeline": "clearhead.tasks",
    "preset": "clearhead.config",
    "train_tokenizer": "clearhead.text",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
