"""What one rendering of a template may cost: steps, and characters made.

Takes: values and calls of a template, before and after they happen.
Gives: Budget, which is paid from, and OverBudget where it runs out.
Uses:  nothing.
Never: measures time; the same template and messages cost the same on every machine.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast

__all__ = ["Budget", "OverBudget", "check_number", "growth", "spending", "weigh"]

MAX_STEPS = 250_000
MAX_CHARACTERS = 2**24
MAX_NUMBER = 2**17
_ENTRY = 16


class OverBudget(Exception):
    """A template that does more than a chat template has reason to."""


@dataclass(kw_only=True)
class Budget:
    """What a rendering may still do."""

    steps: int = MAX_STEPS
    characters: int = MAX_CHARACTERS

    def step(self) -> None:
        """Pay for a turn of a loop, a call or a filter."""
        self.steps -= 1
        if self.steps < 0:
            raise OverBudget("too many steps")

    def make(self, size: int) -> None:
        """Pay for characters, or for entries of a list."""
        self.characters -= size
        if self.characters < 0:
            raise OverBudget("too much text")


spending: ContextVar[Budget] = ContextVar("spending")


def weigh(value: object) -> int:
    """About how many characters a value is when written out; a list that holds another twice is written twice."""
    limit = spending.get().characters
    weight, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        weight += _ENTRY + (len(item) if isinstance(item, str) else 0)
        if isinstance(item, Mapping):
            entries = cast(Mapping[object, object], item)
            waiting += entries.keys()
            waiting += entries.values()
        elif isinstance(item, Sequence) and not isinstance(item, (str, bytes, range)):
            waiting += cast(Sequence[object], item)
        if weight + len(waiting) > limit:
            raise OverBudget("too much text")
    return weight


def growth(name: str, subject: object, arguments: tuple[object, ...]) -> int:
    """How many characters a method or a filter adds to a text, for those that can add more than they are given."""
    texts = [value for value in arguments if isinstance(value, str)]
    if name == "replace" and isinstance(subject, str) and len(texts) > 1:
        return subject.count(texts[0]) * len(texts[1])
    if name == "join":
        items, between = (arguments[:1], subject) if isinstance(subject, str) else (subject, arguments[:1])
        return weigh(items) * (1 + weigh(between))
    if name == "indent":
        width = next((value for value in arguments if isinstance(value, int)), 4)
        return str(subject).count("\n") * max(width, *map(len, texts), 0)
    return 0


def check_number(*values: object) -> None:
    """Refuse a number that asks for a large result in one step."""
    if any(isinstance(value, int) and abs(value) > MAX_NUMBER for value in values):
        raise OverBudget("a number that is too large")
