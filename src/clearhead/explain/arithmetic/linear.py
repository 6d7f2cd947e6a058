"""Linear maps, opened: y[i] = Σ_j x[j] · weight[i, j] + bias[i]."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clearhead.explain.node import Node, Operation, made, times, total

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book


def linear_terms(book: "Book", x: Sequence[Node], path: str, row: int) -> tuple[Node, ...]:
    """The terms of one output of a linear layer: a product for every input, and the bias where there is one."""
    layer = book.part(path)
    weights = [book.weight(f"{path}.weight", row, place) for place in range(len(x))]
    terms = [times(f"{one.name} · weight", one, weight) for one, weight in zip(x, weights, strict=True)]
    if layer.bias is not None:
        terms.append(book.weight(f"{path}.bias", row))
    return tuple(terms)


def linear(book: "Book", x: Callable[[], Sequence[Node]], path: str, row: int, *, name: str) -> Node:
    """One output of a linear layer, between two recorded values."""
    return total(name, linear_terms(book, x(), path, row), formula=f"Σ x · {path}.weight")


def bent(activation: str, node: Node) -> Node:
    """A number after its bend."""
    return made(Operation(activation), f"{activation}({node.name})", (node,))
