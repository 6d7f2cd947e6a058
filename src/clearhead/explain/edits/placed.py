"""Edits that know where in the text they are, also in the middle of decoding and in batches of unlike length."""

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.probe import Edit
from clearhead.trace import Trace

Change = Callable[[str, Tensor, list[int]], Tensor | None]


class PlacedEdit(Edit):
    """An edit that is told which positions of the text the value has.

    Args:
        site: A site name or glob; it begins with the name of its stack.
        change: Takes the site, the value of one text or of several alike, and the positions of its queries; gives the
            value to go on with, or None where it has nothing to change there.
    """

    def __init__(self, *, site: str, change: Change) -> None:
        super().__init__(site, lambda value: value)
        self._told = change
        self._places: dict[str, list[list[int]]] = {}
        self._fired = False

    def wants(self, site: str) -> bool:
        """Whether the site is one to change, or says which positions come next."""
        return site.endswith(".@places") or super().wants(site)

    def hear(self, site: str, value: Any) -> Any:
        """Gives what `change` makes of the value; takes note of positions."""
        stack = site.split(".", maxsplit=1)[0]
        if site.endswith(".@places"):
            self._places[stack] = value.tolist()
            return value
        places = self._places.get(stack)
        if places is None:
            raise TraceError(
                "an edit by position where positions are not counted",
                got=site,
                expected="a site of an encoder's or decoder's blocks",
            )

        def change(one: Any) -> Any:
            if all(row == places[0] for row in places):
                return self._changed(site, one, places[0])
            # Rows of unlike length are padded: what is a position in one is another in the next.
            return torch.cat([self._changed(site, one[row : row + 1], places[row]) for row in range(len(one))])

        self._change = change
        return super().hear(site, value)

    def _changed(self, site: str, value: Tensor, places: list[int]) -> Tensor:
        changed = self._told(site, value, places)
        self._fired = self._fired or changed is not None
        return value if changed is None else changed

    def forget(self) -> None:
        """Begins anew to note what passes."""
        super().forget()
        self._places.clear()
        self._fired = False

    def check_used(self) -> None:
        """Raises if probes passed and this edit changed nothing."""
        super().check_used()
        if any(self._globs.seen.values()) and not self._fired:
            raise TraceError(
                "an edit's position did not come in this run, so it changed nothing",
                got=self._site,
                expected="a position that the text has",
            )


def values_of(trace: Trace) -> Callable[[str], np.ndarray]:
    """What looks up the values of a site: each is read once, though every step of decoding asks."""
    return cache(trace.__getitem__)


def first_key(site: str, places: list[int], n_keys: int) -> int:
    """Where the first real key stands: a decoder's texts are padded before them."""
    pads = site.startswith("decoder.") and ".self." in site
    return max(0, n_keys - (places[-1] + 1)) if pads else 0


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
    return None if head is None else whole_numbers("head", head, least=None)


def whole_numbers(what: str, value: int | Sequence[int], *, least: int | None = 0) -> list[int]:
    """One whole number or several, as several.

    Raises:
        TraceError: Something else, or one that is too small.
    """
    many = list(value) if isinstance(value, Sequence) else [value]
    try:
        numbers = [operator.index(one) for one in many if not isinstance(one, bool)]
    except TypeError:
        numbers = []
    if len(numbers) != len(many) or not numbers or (least is not None and min(numbers) < least):
        expected = "whole numbers" + ("" if least is None else f" from {least} up")
        raise TraceError(f"an impossible {what}", got=str(value)[:100], expected=expected)
    return numbers


def whole_number(what: str, value: int) -> int:
    """A whole number from 0 up.

    Raises:
        TraceError: Something else.
    """
    (number,) = whole_numbers(what, value) if not isinstance(value, Sequence) else [-1]
    if number < 0:
        raise TraceError(f"an impossible {what}", got=str(value)[:100], expected="one whole number from 0 up")
    return number
