"""One number and the arithmetic that made it, opened one level at a time."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from clearhead.trace import SourceLine


class Operation(StrEnum):
    """What makes a number of others."""

    GIVEN = "given"
    """Nothing: a weight, an id, a constant, or what a library computed."""
    SAME = "same"
    SUM = "sum"
    PRODUCT = "product"
    QUOTIENT = "quotient"
    POWER = "power"
    NEGATIVE = "negative"
    EXP = "exp"
    LOG = "log"
    SQRT = "sqrt"
    SIN = "sin"
    COS = "cos"
    MAX = "max"
    TANH = "tanh"
    RELU = "relu"
    SILU = "silu"
    GELU = "gelu"
    GELU_TANH = "gelu-tanh"


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _silu(x: float) -> float:
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


_COMPUTE: Mapping[Operation, Callable[[Sequence[float]], float]] = {
    Operation.SAME: lambda x: x[0],
    Operation.SUM: math.fsum,
    Operation.PRODUCT: math.prod,
    Operation.QUOTIENT: lambda x: x[0] / x[1],
    Operation.POWER: lambda x: x[0] ** x[1],
    Operation.NEGATIVE: lambda x: -x[0],
    Operation.EXP: lambda x: math.exp(x[0]),
    Operation.LOG: lambda x: math.log(x[0]),
    Operation.SQRT: lambda x: math.sqrt(x[0]),
    Operation.SIN: lambda x: math.sin(x[0]),
    Operation.COS: lambda x: math.cos(x[0]),
    Operation.MAX: max,
    Operation.TANH: lambda x: math.tanh(x[0]),
    Operation.RELU: lambda x: max(0.0, x[0]),
    Operation.SILU: lambda x: _silu(x[0]),
    Operation.GELU: lambda x: 0.5 * x[0] * (1 + math.erf(x[0] / math.sqrt(2))),
    Operation.GELU_TANH: lambda x: _gelu_tanh(x[0]),
}


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a number can be found again.

    Attributes:
        name: A site of the run, or a parameter of the network.
        index: One whole number an axis.
        axes: The letters of the axes; empty for a parameter.
    """

    name: str
    index: tuple[int, ...]
    axes: str = ""

    def __str__(self) -> str:
        numbers = [str(place) for place in self.index]
        if self.axes:
            numbers = [f"{letter}={place}" for letter, place in zip(self.axes, numbers, strict=True) if letter != "B"]
        return f"{self.name}[{', '.join(numbers)}]"


def _nothing() -> "tuple[Node, ...]":
    return ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Node:
    """A number, what it is called, and how to open it.

    Attributes:
        name: What it is.
        value: The number: what the run recorded, or what its children make where nothing was recorded between.
        operation: What its children are put together by.
        formula: The same in words, where the operation alone does not say it.
        address: Where it can be found again, where it is a recorded value or a parameter.
        line: The line of this package that computed it.
        opens: What its children are.
    """

    name: str
    value: float
    operation: Operation = Operation.GIVEN
    formula: str = ""
    address: Address | None = None
    line: SourceLine | None = None
    opens: Callable[[], "tuple[Node, ...]"] = field(default=_nothing, repr=False)

    @cached_property
    def children(self) -> "tuple[Node, ...]":
        """What the number is made of; nothing for one that is given."""
        return self.opens()

    @property
    def recomputed(self) -> float:
        """The number once more, from its children alone."""
        if self.operation is Operation.GIVEN:
            return self.value
        return _COMPUTE[self.operation]([child.value for child in self.children])

    @property
    def ranked(self) -> "tuple[Node, ...]":
        """The children, those that weigh most first where the order of a sum does not matter."""
        if self.operation is not Operation.SUM:
            return self.children
        return tuple(sorted(self.children, key=lambda child: -abs(child.value)))

    def walk(self, depth: int) -> "Iterator[tuple[int, Node]]":
        """This number and all that it is made of, down to a depth."""
        pending: list[tuple[int, Node]] = [(0, self)]
        while pending:
            level, node = pending.pop()
            yield level, node
            if level < depth:
                pending.extend((level + 1, child) for child in reversed(node.ranked))


def given(name: str, value: float | int, *, formula: str = "") -> Node:
    """A number that is made of nothing else."""
    return Node(name=name, value=float(value), formula=formula)


def made(
    operation: Operation, name: str, children: Sequence[Node], *, formula: str = "", line: SourceLine | None = None
) -> Node:
    """A number that its children make, between two that were recorded."""
    value = _COMPUTE[operation]([child.value for child in children])
    kept = tuple(children)
    return Node(name=name, value=value, operation=operation, formula=formula, line=line, opens=lambda: kept)


def total(name: str, children: Sequence[Node], *, formula: str = "") -> Node:
    """The sum of some numbers."""
    return made(Operation.SUM, name, children, formula=formula)


def times(name: str, *children: Node) -> Node:
    """The product of some numbers."""
    return made(Operation.PRODUCT, name, children)


def over(name: str, above: Node, below: Node, *, formula: str = "") -> Node:
    """One number divided by another."""
    return made(Operation.QUOTIENT, name, (above, below), formula=formula)


def minus(child: Node) -> Node:
    """A number with its sign turned."""
    return made(Operation.NEGATIVE, f"-{child.name}", (child,))
