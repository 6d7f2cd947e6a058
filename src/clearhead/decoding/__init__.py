"""The decoding room: from logits to the next id, until something says stop.

Takes: a stepper, which gives logits and takes ids, and settings.
Gives: ids, with why they ended; events as they are chosen; beams with all that became of them.
Uses:  config (its checks), errors; torch.
Never: a model or a tokenizer; a row that depends on the rows beside it.
"""

from clearhead.decoding.beam import BeamSearch, beam_search
from clearhead.decoding.beam_record import Beam, BeamCandidate, BeamResult, Fate
from clearhead.decoding.choose import choose
from clearhead.decoding.row import Event, Finish, Row
from clearhead.decoding.settings import DEFAULT_NEW, DecodingSettings, EarlyStopping
from clearhead.decoding.steps import Stepper, decode
from clearhead.decoding.text_stream import TextStream

__all__ = [
    "DEFAULT_NEW",
    "Beam",
    "BeamCandidate",
    "BeamResult",
    "BeamSearch",
    "DecodingSettings",
    "EarlyStopping",
    "Event",
    "Fate",
    "Finish",
    "Row",
    "Stepper",
    "TextStream",
    "beam_search",
    "choose",
    "decode",
]
