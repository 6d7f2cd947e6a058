"""The course: worked examples that the engine computes while you read.

Takes: the key of an example, and other numbers for it where one wants.
Gives: what it shows, every number of it computed by the real parts, and the notes' number beside it.
Uses:  nn, models, text, config, figures, probe.
Never: a number that was not computed here and now, unless it is marked as printed in the notes.
"""

from clearhead.lessons.again import Given, reworked
from clearhead.lessons.example import Input, Result, Value, WorkedExample
from clearhead.lessons.page import page
from clearhead.lessons.worked import EXAMPLES
from clearhead.lessons.written import Line, Tone, written

__all__ = [
    "EXAMPLES",
    "Given",
    "Input",
    "Line",
    "Result",
    "Tone",
    "Value",
    "WorkedExample",
    "page",
    "reworked",
    "written",
]
