"""A worked example with other numbers: the same parts, what comes out now, and nothing that the notes print."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clearhead.errors import ConfigError
from clearhead.lessons.example import Input, Result, Table, WorkedExample
from clearhead.lessons.worked import EXAMPLES

__all__ = ["Given", "reworked"]

Given = Mapping[str, Sequence[Sequence[float | int]] | Sequence[str]]


def reworked(key: str, given: Given) -> WorkedExample:
    """The example of that key, worked out with what is given in the place of the notes' numbers.

    Args:
        key: Such as E4.
        given: Tables or words, by the keys of the example's inputs; what is left out stays as it is.

    Raises:
        ConfigError: An input that the example does not have, or one of another shape.
    """
    work = EXAMPLES[key]
    plain = work()
    inputs = {one.key: one for one in plain.inputs}
    for name in given:
        if name not in inputs:
            raise ConfigError(f"{key} has no such input", got=name, expected=", ".join(inputs) or "none")
    values = {name: _checked(inputs[name], value) for name, value in given.items()}
    if all(value == inputs[name].value for name, value in values.items()):
        return plain
    found = work(**values)
    return replace(found, results=tuple(_own(one) for one in found.results))


def _own(result: Result) -> Result:
    """A result of other numbers than the notes', with which theirs cannot be compared."""
    return replace(result, printed=None, remark="")


def _checked(wanted: Input, value: Sequence[Sequence[float | int]] | Sequence[str]) -> Table | tuple[str, ...]:
    words = [one for one in value if isinstance(one, str)]
    rows = [tuple(one) for one in value if not isinstance(one, str)]
    if isinstance(wanted.value[0], str):
        if rows or len(words) != len(wanted.value) or not all(one.strip() for one in words):
            raise ConfigError(
                f"{wanted.name}: words are missing", got=len(words), expected=f"{len(wanted.value)} texts"
            )
        return tuple(words)
    shape = [len(row) for row in wanted.value]
    if words or [len(row) for row in rows] != shape:
        raise ConfigError(f"{wanted.name}: a table of another shape", got=[len(row) for row in rows], expected=shape)
    numbers = [cell for row in rows for cell in row]
    if not all(wanted.least <= cell <= wanted.most for cell in numbers):
        raise ConfigError(f"{wanted.name}: a number out of range", expected=f"{wanted.least:g} to {wanted.most:g}")
    if wanted.whole and not all(float(cell).is_integer() for cell in numbers):
        raise ConfigError(f"{wanted.name}: a number that is not whole", expected="whole numbers")
    return tuple(tuple(int(cell) if float(cell).is_integer() else float(cell) for cell in row) for row in rows)
