"""Edits that know where in the text they are, also in the middle of decoding."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from clearhead.errors import TraceError
from clearhead.probe import Edit

Change = Callable[[str, Tensor, list[int]], Tensor]


class PlacedEdit(Edit):
    """An edit that is told which positions of the text the value has.

    Args:
        site: A site name or glob; it begins with the name of its stack.
        change: Takes the site, the value and the positions of its queries; gives the value to go on with.
    """

    def __init__(self, *, site: str, change: Change) -> None:
        super().__init__(site, lambda value: value)
        self._told = change
        self._positions: dict[str, list[int]] = {}

    def wants(self, site: str) -> bool:
        """Whether the site is one to change, or says which positions come next."""
        return site.endswith(".@positions") or super().wants(site)

    def hear(self, site: str, value: Any) -> Any:
        """Gives what `change` makes of the value; takes note of positions."""
        if site.endswith(".@positions"):
            self._positions[site.split(".", maxsplit=1)[0]] = [int(place) for place in value[0]]
            return value
        positions = self._positions.get(site.split(".", maxsplit=1)[0])
        if positions is None:
            raise TraceError(
                "an edit by position where positions are not counted",
                got=site,
                expected="a site of an encoder's or decoder's blocks",
            )
        told = self._told

        def change(one: Any) -> Any:
            return told(site, one, positions)

        self._change = change
        return super().hear(site, value)


def chosen_heads(site: str, heads: Sequence[int] | None, n_heads: int) -> list[int]:
    """The heads that are meant: those named, or all.

    Raises:
        TraceError: A head that is not there.
    """
    named = list(range(n_heads)) if heads is None else list(heads)
    for head in named:
        if not -n_heads <= head < n_heads:
            raise TraceError("a head that is not there", got=f"{site}, head {head}", expected=f"0 to {n_heads - 1}")
    return named


def as_heads(head: int | Sequence[int] | None) -> Sequence[int] | None:
    """One head or several, as several; None for all."""
    return [head] if isinstance(head, int) else head
