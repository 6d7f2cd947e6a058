"""Published checkpoints, in and out: the Hugging Face folder is the only format.

Takes: an embedded model's name, a folder or a hub id; or a model to save.
Gives: a Checkpoint, with the reference's numbers; or a folder that other programs open.
Uses:  models, text, config, errors; huggingface_hub.
Never: a pickle; a tensor left in a memory map; a download that was not announced.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.weights.catalogue import ModelEntry as ModelEntry
    from clearhead.weights.catalogue import list_models as list_models
    from clearhead.weights.families import DIALECTS as DIALECTS
    from clearhead.weights.families import Dialect as Dialect
    from clearhead.weights.load import Checkpoint as Checkpoint
    from clearhead.weights.load import load_checkpoint as load_checkpoint
    from clearhead.weights.locate import embedded_models as embedded_models
    from clearhead.weights.locate import resolve as resolve
    from clearhead.weights.save import family_of as family_of
    from clearhead.weights.save import save_checkpoint as save_checkpoint

_DOORS = {
    "DIALECTS": "clearhead.weights.families",
    "Checkpoint": "clearhead.weights.load",
    "Dialect": "clearhead.weights.families",
    "ModelEntry": "clearhead.weights.catalogue",
    "embedded_models": "clearhead.weights.locate",
    "family_of": "clearhead.weights.save",
    "list_models": "clearhead.weights.catalogue",
    "load_checkpoint": "clearhead.weights.load",
    "resolve": "clearhead.weights.locate",
    "save_checkpoint": "clearhead.weights.save",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
