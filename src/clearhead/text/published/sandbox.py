"""A sandbox with an end: templates from strangers, bounded in what they reach, how long they run, how much they make.

Takes: the source of a chat template.
Gives: BoundedEnvironment, in which a template renders within the current Budget or stops with OverBudget.
Uses:  published.budget; jinja2.
Never: internals of Python (jinja2's sandbox), endless loops, or text and numbers that grow without end (ours).

jinja2's sandbox limits a single `range`, not a loop in a loop, a macro that calls itself twice, or a text that doubles.
So every turn of a loop, every call and every filter is a step, and every joined, repeated or printed text is counted.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, cast

from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from clearhead.text.published.budget import OverBudget, check_number, growth, spending, weigh

__all__ = ["BoundedEnvironment"]

_MAX_BITS = 256
# What pads a text to a width, which a format string can hide; no chat template needs them.
_WIDE_METHODS = frozenset({"center", "expandtabs", "format", "format_map", "ljust", "rjust", "translate", "zfill"})
_WIDE_FILTERS = frozenset({"center", "format", "pprint", "urlize", "wordwrap", "xmlattr"})
_WRITERS = frozenset({"string", "tojson", "list"})


class GenerationBlock(Extension):
    """The tag around what the assistant says; it matters in training, and prints its content here."""

    tags = {"generation"}  # noqa: RUF012  (jinja2 declares it this way)

    def parse(self, parser: Parser) -> nodes.Node:
        """Read up to the end of the block."""
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """jinja2's sandbox with a budget.

    Args:
        filters: Filters beside jinja2's own, or in their place.
        values: What every template sees beside jinja2's own.
    """

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, *, filters: dict[str, Callable[..., Any]], values: dict[str, Any]) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, loopcontrols], finalize=_printed
        )
        known = {name: call for name, call in {**self.filters, **filters}.items() if name not in _WIDE_FILTERS}
        bounded = {name: _bounded_filter(name, call) for name, call in known.items()}
        self.filters = {**bounded, "_turns": _turns, "_joined": _joined}
        # jinja2's text generator makes as much as it is told to.
        self.globals: dict[str, Any] = {**cast(Any, self).globals, "lipsum": None, **values}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Parse, and put a counter into every loop and every joining of texts."""
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, "_turns", [], [], None, None, lineno=loop.lineno)
        for join in list(tree.find_all(nodes.Concat)):
            parts = nodes.List(join.nodes, lineno=join.lineno)
            join.nodes = [nodes.Filter(parts, "_joined", [], [], None, None, lineno=join.lineno)]
        return tree

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may touch an attribute."""
        wide = isinstance(obj, str) and attr in _WIDE_METHODS
        return not wide and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Refuse the method `format` of a text, which jinja2 would let through in a wrapping of its own."""
        if super().wrap_str_format(value) is not None:
            raise OverBudget("a format, whose width has no limit")
        return None

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  (jinja2's names)
        """Call what the sandbox allows, as one step."""
        check_number(*args, *kwargs.values())
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            spending.get().make(growth(__obj.__name__, owner, (*args, *kwargs.values())))
        return _made(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute, unless the result would be large."""
        if isinstance(left, int) and isinstance(right, int):
            n_bits = left.bit_length() * max(1, right) if operator == "**" else left.bit_length() + right.bit_length()
            if n_bits > _MAX_BITS:
                raise OverBudget("a number that is too large")
        elif operator == "*":
            n_times, of = (left, right) if isinstance(left, int) else (right, left)
            if isinstance(n_times, int) and isinstance(of, Sized):
                spending.get().make(max(0, n_times) * len(of))
        elif operator == "%" and isinstance(left, str):
            raise OverBudget("a format with %, whose width has no limit")
        return _made(super().call_binop(context, operator, left, right))


def _turns(items: Iterable[Any]) -> Iterator[Any]:
    """The entries that a loop goes through, each turn a step."""
    for item in items:
        spending.get().step()
        yield item


def _joined(parts: list[Any]) -> str:
    """Texts put together with the tilde."""
    spending.get().make(weigh(parts))
    return "".join(map(str, parts))


def _printed(value: object) -> object:
    """What a template prints, into its output or into a variable; constants are printed while it is compiled."""
    if budget := spending.get(None):
        budget.make(weigh(value))
    return value


def _made(value: Any) -> Any:
    """The result of one step, paid for by its size."""
    budget = spending.get()
    budget.step()
    if isinstance(cast(object, value), (str, list, tuple, dict)):
        budget.make(len(value))
    return value


def _bounded_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter as one step; `wraps` keeps the marks by which jinja2 knows what to hand it first."""
    n_before = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        subject, *rest = args[n_before:]
        arguments = (*rest, *kwargs.values())
        check_number(*arguments)
        if name in _WRITERS:
            weigh(subject)
        if budget := spending.get(None):
            budget.make(growth(name, subject, arguments))
        return _made(function(*args, **kwargs)) if budget else function(*args, **kwargs)

    return bounded
