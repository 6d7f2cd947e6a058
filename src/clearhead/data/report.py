"""What cleaning dropped and why, with examples.

Takes: records that were kept or dropped, one at a time.
Gives: counts and a few examples, as data and as text.
Uses:  errors, data.record.
Never: more than a few short examples of each reason.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, cast

from clearhead.data.record import Record
from clearhead.errors import TextError

__all__ = ["CleaningReport", "Reason"]

N_EXAMPLES = 3
_EXAMPLE_CHARACTERS = 100


class Reason(StrEnum):
    """Why a record is dropped."""

    EMPTY = "empty"
    DUPLICATE = "duplicate"
    TOO_LONG = "too long"
    BAD_RATIO = "bad ratio"
    COPY = "target copies source"
    HELD_OUT = "also in the validation files"
    SHARED = "shares a text with what is measured by"
    TOO_MANY_TOKENS = "too many tokens"


class CleaningReport:
    """How many records were kept, how many dropped for each reason, and what some of them were."""

    def __init__(self) -> None:
        self._kept = 0
        self._truncated = 0
        self._dropped: dict[str, int] = {}
        self._examples: dict[str, tuple[str, ...]] = {}

    @property
    def kept(self) -> int:
        """How many records remain."""
        return self._kept

    @property
    def truncated(self) -> int:
        """How many of these were cut to the longest that the model reads."""
        return self._truncated

    @property
    def read(self) -> int:
        """How many records there were."""
        return self._kept + sum(self._dropped.values())

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many records were dropped for each reason."""
        return MappingProxyType(self._dropped)

    @property
    def examples(self) -> Mapping[str, tuple[str, ...]]:
        """The first few records that were dropped for each reason, shortened."""
        return MappingProxyType(self._examples)

    @property
    def counts(self) -> str:
        """The numbers alone, in one line."""
        dropped = "".join(f", {count} {reason}" for reason, count in self._dropped.items())
        return f"{self.kept} kept of {self.read}{dropped}"

    def keep(self) -> None:
        """Count a record that stays."""
        self._kept += 1

    def truncate(self) -> None:
        """Count a record that stays, cut to length; `keep` counts it too."""
        self._truncated += 1

    def drop(self, reason: Reason, record: Record) -> None:
        """Count a record that goes."""
        self._dropped[reason.value] = self._dropped.get(reason.value, 0) + 1
        examples = self._examples.get(reason.value, ())
        if len(examples) < N_EXAMPLES:
            self._examples[reason.value] = (*examples, _example(record))

    def withdraw(self, reason: Reason, record: Record) -> None:
        """Count a record that was kept, and goes after all."""
        self._kept -= 1
        self.drop(reason, record)

    def to_dict(self) -> dict[str, Any]:
        """The report as data that JSON can hold."""
        return {
            "kept": self._kept,
            "truncated": self._truncated,
            "dropped": dict(self._dropped),
            "examples": {reason: list(examples) for reason, examples in self._examples.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CleaningReport":
        """The report that `to_dict` wrote."""
        report = cls()
        try:
            report._kept, report._truncated = int(data["kept"]), int(data["truncated"])
            report._dropped = {str(reason): int(count) for reason, count in data["dropped"].items()}
            examples = cast(Mapping[str, list[Any]], data["examples"])
            report._examples = {str(reason): tuple(map(str, texts)) for reason, texts in examples.items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TextError("a cleaning report that cannot be read", got=repr(error)[:100]) from None
        return report

    def __str__(self) -> str:
        lines = [f"kept {self.kept:,} of {self.read:,} examples"]
        if self.truncated:
            lines.append(f"  cut to length: {self.truncated:,}")
        for reason, count in sorted(self._dropped.items(), key=lambda entry: -entry[1]):
            lines.append(f"  dropped, {reason}: {count:,}")
            lines += [f"    {example}" for example in self._examples.get(reason, ()) if example]
        return "\n".join(lines)


def _example(record: Record) -> str:
    texts = (" ".join(text.split()) for text in (record.source, record.target, record.label) if text is not None)
    whole = " | ".join(texts)
    shown = "".join(letter if letter.isprintable() else "�" for letter in whole[: _EXAMPLE_CHARACTERS + 1])
    return shown if len(shown) <= _EXAMPLE_CHARACTERS else shown[:_EXAMPLE_CHARACTERS] + "…"
