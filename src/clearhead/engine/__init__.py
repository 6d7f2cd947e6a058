"""The engine: ids in, ids and text out, with a cache, in batches, as a stream.

Takes: a network of any family, requests with settings.
Gives: replies in the order of the requests; events as they come; the outputs of an encoder.
Uses:  decoding, models, nn, errors; torch.
Never: what a task means; a row that depends on the rows beside it.
"""

from clearhead.engine.engine import Engine
from clearhead.engine.limits import Overflow
from clearhead.engine.prepare import prepare
from clearhead.engine.reading import Reading, read
from clearhead.engine.request import Answer, Reply, Request
from clearhead.engine.steppers import DecoderOnlyStepper, EncoderDecoderStepper, RecurrentStepper
from clearhead.engine.weight_format import WeightFormat

__all__ = [
    "Answer",
    "DecoderOnlyStepper",
    "EncoderDecoderStepper",
    "Engine",
    "Overflow",
    "Reading",
    "RecurrentStepper",
    "Reply",
    "Request",
    "WeightFormat",
    "prepare",
    "read",
]
