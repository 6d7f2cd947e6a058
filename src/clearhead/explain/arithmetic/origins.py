"""How a recorded number came to be."""

from collections.abc import Callable
from dataclasses import dataclass, field

from clearhead.explain.node import Node, Operation


def _nothing() -> tuple[Node, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Origin:
    """How a recorded number came to be.

    Attributes:
        operation: What its children are put together by.
        opens: What its children are.
        formula: The operation in words, where it is not what the site's record says.
    """

    operation: Operation
    opens: Callable[[], tuple[Node, ...]] = field(default=_nothing, repr=False)
    formula: str = ""
