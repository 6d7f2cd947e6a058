"""The course: worked examples that the engine computes while you read.

Takes: nothing but the key of an example.
Gives: what it shows, every number of it computed by the real parts, and the notes' number beside it.
Uses:  nn, models, text, config, figures, probe.
Never: a number that was not computed here and now, unless it is marked as printed in the notes.
"""

from clearhead.lessons.example import Result, Value, WorkedExample
from clearhead.lessons.page import page
from clearhead.lessons.worked import EXAMPLES
from clearhead.lessons.written import Line, Tone, written

__all__ = ["EXAMPLES", "Line", "Result", "Tone", "Value", "WorkedExample", "page", "written"]
