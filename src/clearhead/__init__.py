"""The Transformer with nothing hidden: run it, train it, serve it, and see every number it computes.

Takes: a name.
Gives: what that name stands for, imported when it is first asked for.
Uses:  every room, lazily.
Never: torch, numpy or any other heavy import before it is needed.
"""

import os
from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.axes import AXES as AXES
    from clearhead.config import ModelConfig as ModelConfig
    from clearhead.config import RecurrentConfig as RecurrentConfig
    from clearhead.config import preset as preset
    from clearhead.errors import ClearheadError as ClearheadError
    from clearhead.explain import Run as Run
    from clearhead.explain import ablate as ablate
    from clearhead.explain import drop as drop
    from clearhead.explain import freeze as freeze
    from clearhead.explain import look_at as look_at
    from clearhead.explain import open_mask as open_mask
    from clearhead.explain import patch as patch
    from clearhead.explain import scale_scores as scale_scores
    from clearhead.explain import skip as skip
    from clearhead.explain import swap as swap
    from clearhead.model import Model as Model
    from clearhead.model import load as load
    from clearhead.models import build as build
    from clearhead.probe import Edit as Edit
    from clearhead.probe import Recorder as Recorder
    from clearhead.probe import listen as listen
    from clearhead.tasks import pipeline as pipeline
    from clearhead.text import Tokenizer as Tokenizer
    from clearhead.text import train_tokenizer as train_tokenizer
    from clearhead.trace import Trace as Trace
    from clearhead.trace import load_trace as load_trace

__version__ = "0.1.0"

if "OMP_WAIT_POLICY" not in os.environ:
    # torch's threads, which read this when they are made, look out for more work for milliseconds after each operation;
    # kernels, which have threads of their own, would find no processor free. This is long enough from one to the next.
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

_DOORS = {
    "AXES": "clearhead.axes",
    "ClearheadError": "clearhead.errors",
    "Edit": "clearhead.probe",
    "Model": "clearhead.model",
    "ModelConfig": "clearhead.config",
    "Recorder": "clearhead.probe",
    "RecurrentConfig": "clearhead.config",
    "Run": "clearhead.explain",
    "Tokenizer": "clearhead.text",
    "Trace": "clearhead.trace",
    "ablate": "clearhead.explain",
    "build": "clearhead.models",
    "drop": "clearhead.explain",
    "freeze": "clearhead.explain",
    "listen": "clearhead.probe",
    "load": "clearhead.model",
    "load_trace": "clearhead.trace",
    "look_at": "clearhead.explain",
    "open_mask": "clearhead.explain",
    "patch": "clearhead.explain",
    "pipeline": "clearhead.tasks",
    "preset": "clearhead.config",
    "scale_scores": "clearhead.explain",
    "skip": "clearhead.explain",
    "swap": "clearhead.explain",
    "train_tokenizer": "clearhead.text",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
