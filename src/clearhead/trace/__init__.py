"""A run as plain data: what passed every site that was asked for, and how it came to be.

Takes: a model and a text, or a request to write; the sites to record.
Gives: a Trace: values with their axes, tokens, origins and source lines; its file, in and out.
Uses:  tasks, engine, models, weights, config, probe, axes, errors; numpy, torch.
Never: a second forward pass; a value that the run did not compute.
"""

from clearhead.trace.anatomy import Anatomy, Made
from clearhead.trace.file import load_trace, save_trace
from clearhead.trace.fingerprint import fingerprint
from clearhead.trace.record import Generated, record_generation, record_reading
from clearhead.trace.tape import Tape
from clearhead.trace.tokens import named, read_alone
from clearhead.trace.trace import SiteRecord, SourceLine, Token, Trace

__all__ = [
    "Anatomy",
    "Generated",
    "Made",
    "SiteRecord",
    "SourceLine",
    "Tape",
    "Token",
    "Trace",
    "fingerprint",
    "load_trace",
    "named",
    "read_alone",
    "record_generation",
    "record_reading",
    "save_trace",
]
