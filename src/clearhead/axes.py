"""THE legend: every axis letter, its name and its colour.

Takes: nothing; this is data.
Gives: the letters that end variable names, annotate signatures, label traces and colour the page.
Uses:  nothing.
Never: a letter with two meanings.

The colours are told apart with any of the common colour-blindnesses (after Okabe and Ito's palette,
extended by lightness), on white and on black.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

__all__ = ["AXES", "Axis", "legend", "read"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One letter of the legend."""

    letter: str
    name: str
    colour: str


AXES: Mapping[str, Axis] = MappingProxyType(
    {
        letter: Axis(letter=letter, name=name, colour=colour)
        for letter, name, colour in (
            ("B", "batch", "#7f7f7f"),
            ("S", "source position", "#009e73"),
            ("T", "target position", "#d55e00"),
            ("Q", "query position", "#e69f00"),
            ("K", "key position", "#56b4e9"),
            ("D", "model width", "#0072b2"),
            ("H", "head", "#cc79a7"),
            ("G", "key/value head", "#a5527f"),
            ("C", "head width", "#8c6bb1"),
            ("F", "feed-forward width", "#b8860b"),
            ("V", "vocabulary", "#5b8c2a"),
            ("L", "layer", "#a0522d"),
        )
    }
)


def read(letters: str) -> tuple[Axis, ...]:
    """The axes that a run of letters names: `read("BHQK")`, or `read("B H Q K")`.

    Letters are written by us; a room that takes them from a user looks in `AXES` first.
    """
    unknown = set(letters) - set(AXES) - {" "}
    assert not unknown, f"{sorted(unknown)} not in the legend"
    return tuple(AXES[letter] for letter in letters if letter != " ")


def legend() -> list[dict[str, str]]:
    """The legend as plain data, for the page and the docs."""
    return [asdict(axis) for axis in AXES.values()]
