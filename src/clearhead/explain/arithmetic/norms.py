"""Norms, opened: what a vector is divided by, and what each number becomes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clearhead.explain.node import Node, Operation, given, made, minus, over, times, total
from clearhead.nn import LayerNorm

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book


def norm_terms(book: "Book", x: Sequence[Node], path: str, place: int) -> tuple[Node, ...]:
    """What is added up, or multiplied, to one number of a normalised vector."""
    module = book.part(path)
    weight = book.weight(f"{path}.weight", place)
    if isinstance(module, LayerNorm):
        middle = mean("mean", x)
        spread = deviation(x, middle, module.epsilon)
        centred = total(f"{x[place].name} - mean", (x[place], minus(middle)))
        scaled = times("scaled · weight", over("centred / deviation", centred, spread), weight)
        return (scaled, book.weight(f"{path}.bias", place))
    squares = mean("mean of squares", [squared(one) for one in x])
    rms = made(Operation.SQRT, "rms", (total("mean of squares + ε", (squares, given("ε", module.epsilon))),))
    return (over(f"{x[place].name} / rms", x[place], rms), weight)


def norm_operation(book: "Book", path: str) -> Operation:
    """What puts the terms of `norm_terms` together."""
    return Operation.SUM if isinstance(book.part(path), LayerNorm) else Operation.PRODUCT


def mean(name: str, x: Sequence[Node]) -> Node:
    """The mean of some numbers."""
    return over(name, total("sum", x), given("how many", len(x)))


def squared(node: Node) -> Node:
    """A number times itself."""
    return times(f"({node.name})²", node, node)


def deviation(x: Sequence[Node], middle: Node, epsilon: float) -> Node:
    """The standard deviation that a layer norm divides by."""
    apart = [squared(total(f"{one.name} - mean", (one, minus(middle)))) for one in x]
    variance = mean("variance", apart)
    return made(Operation.SQRT, "deviation", (total("variance + ε", (variance, given("ε", epsilon))),))
