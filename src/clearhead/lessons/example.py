"""What a worked example is: a few sentences, and numbers beside those that the notes print."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

import torch
from torch import Tensor

from clearhead.figures import Figure

__all__ = ["Input", "Number", "Result", "Row", "Table", "Value", "WorkedExample", "numbers", "shape", "table"]

# Counts are whole numbers, and a checker at run time does not take those for floats.
Number = int | float
Row = tuple[Number, ...]
Table = tuple[Row, ...]
Value = str | Number | Row | Table


@dataclass(frozen=True, kw_only=True)
class Result:
    """One thing that an example finds out.

    Attributes:
        name: What was computed.
        computed: What came out of the run: words, a number, a row or a table.
        printed: What the notes print, right or wrong; None where they print nothing.
        remark: Why the two differ, or what to see.
        rows: The names of a table's rows.
        columns: The names of the columns.
        digits: How many decimals matter.
    """

    name: str
    computed: Value
    printed: Value | None = None
    remark: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    digits: int = 4

    @property
    def agrees(self) -> bool | None:
        """Whether the notes print what was computed, to the digits that they print; None if they print nothing."""
        return None if self.printed is None else _agree(self.computed, self.printed)


@dataclass(frozen=True, kw_only=True)
class Input:
    """Numbers or words that an example begins with, and that one may change.

    Attributes:
        key: The argument of the example's function.
        name: What it is.
        value: What the notes have: a table of numbers, or some words.
        rows: The names of a table's rows.
        columns: The names of the columns.
        least: The smallest number that makes sense.
        most: The largest.
        whole: Whether only whole numbers make sense.
    """

    key: str
    name: str
    value: Table | tuple[str, ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    least: Number = -1e6
    most: Number = 1e6
    whole: bool = False


@dataclass(frozen=True, kw_only=True)
class WorkedExample:
    """One example of the notes, computed.

    Attributes:
        key: Its name in the course, such as E1.
        title: What it is about.
        shows: Two or three plain sentences.
        results: What was computed.
        figures: Pictures by name.
        inputs: What it began with, and what may be changed.
    """

    key: str
    title: str
    shows: str
    results: tuple[Result, ...]
    figures: Mapping[str, Figure] = field(default_factory=lambda: MappingProxyType({}))
    inputs: tuple[Input, ...] = ()

    def __getitem__(self, name: str) -> Result:
        """The result of that name."""
        found = [result for result in self.results if result.name == name]
        if not found:
            raise KeyError(f"{self.key} has no result {name!r}; it has {[result.name for result in self.results]}")
        return found[0]


def numbers(row: Tensor) -> Row:
    """A tensor of one axis as plain numbers."""
    return tuple(float(cell) for cell in row)


def table(rows: Tensor) -> Table:
    """A tensor of two axes as plain numbers."""
    return tuple(map(numbers, rows))


def shape(tensor: Tensor) -> str:
    """A tensor's shape in the words of the notes: "(6, 4)"."""
    return str(tuple(tensor.shape))


def _agree(computed: Value, printed: Value) -> bool:
    if isinstance(computed, str) or isinstance(printed, str):
        return computed == printed
    ours = torch.tensor(computed, dtype=torch.float64)
    theirs = torch.tensor(printed, dtype=torch.float64)
    if ours.shape != theirs.shape:
        return False
    # One unit in the last place that the notes print: they round here and cut there.
    unit = 10.0 ** -max(map(_decimals, numbers(theirs.flatten())))
    return bool(((ours - theirs).abs() <= unit * (1 + 1e-9)).all())


def _decimals(value: Number) -> int:
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)
