"""Positions that are hidden or exchanged, and the future laid open."""

from collections.abc import Sequence
from typing import Any

from clearhead.errors import TraceError
from clearhead.explain.edits.placed import whole_number, whole_numbers
from clearhead.nn import AttentionMask
from clearhead.probe import Edit

_MASKS = {"encoder": "encoder.@mask", "decoder": "decoder.@mask", "cross": "decoder.@cross_mask"}


def drop(where: str, *, position: int | Sequence[int]) -> Edit:
    """Hides positions: no query may look at them.

    Args:
        where: `encoder`, `decoder`, or `cross` for what the decoder sees of the source.
        position: Which position or positions.
    """
    return _Drop(site=_mask(where), places=whole_numbers("position", position))


class _Drop(Edit):
    """Keys that no query may look at."""

    def __init__(self, *, site: str, places: list[int]) -> None:
        super().__init__(site, self._closed)
        self._places = places
        self._fired = False

    def _closed(self, mask: AttentionMask) -> AttentionMask:
        self._fired = self._fired or any(place < mask.n_keys for place in self._places)
        return mask.without_keys(self._places)

    def check_used(self) -> None:
        """Raises if probes passed and no key was there to close."""
        super().check_used()
        if any(self._globs.seen.values()) and not self._fired:
            raise _absent(self._site, self._places)


def _absent(site: str, places: list[int]) -> TraceError:
    return TraceError(
        "an edit's position did not come in this run, so it changed nothing",
        got=f"{site}: {places}",
        expected="a position that the text has",
    )


def open_mask(where: str = "decoder") -> Edit:
    """Lets every query see the future too: what training must prevent.

    Args:
        where: The stack.
    """

    def change(mask: AttentionMask) -> AttentionMask:
        return mask.without_order()

    return Edit(_mask(where), change)


def _mask(where: str) -> str:
    if where not in _MASKS:
        raise TraceError("there is no such mask", got=where, expected=", ".join(_MASKS))
    return _MASKS[where]


class _Swap(Edit):
    """Two positions exchanged, however the model knows its positions."""

    def __init__(self, *, stack: str, first: int, second: int) -> None:
        super().__init__(f"{stack}.@positions", lambda value: value)
        self._pair = (first, second)
        self._bias = f"{stack}.@bias"
        self._came: set[int] = set()

    def changes(self, site: str) -> bool:
        """Whether the site says where tokens stand."""
        return site == self._bias or super().changes(site)

    def wants(self, site: str) -> bool:
        """Whether the site says where tokens stand."""
        return site == self._bias or super().wants(site)

    def hear(self, site: str, value: Any) -> Any:
        """Exchanges the two."""
        first, second = self._pair
        if site == self._bias:
            return self._swapped_bias(value)
        self._came |= {int(place) for place in value.flatten() if int(place) in self._pair}
        changed = value.clone()
        changed[value == first] = second
        changed[value == second] = first
        return changed

    def check_used(self) -> None:
        """Raises if probes passed and not both positions came."""
        super().check_used()
        if any(self._globs.seen.values()) and self._came != set(self._pair):
            raise _absent(self._site, list(self._pair))

    def _swapped_bias(self, bias_1HQK: Any) -> Any:
        n_queries, n_keys = bias_1HQK.shape[2:]
        places = [self._other(place) for place in range(n_keys)]
        if max(self._pair) >= n_keys:
            return bias_1HQK
        if n_queries < n_keys:
            raise TraceError(
                "relative positions can be exchanged within one pass only",
                got="a step of decoding",
                expected="the encoder, or a pass over a whole text",
            )
        return bias_1HQK[:, :, places][:, :, :, places]

    def _other(self, place: int) -> int:
        first, second = self._pair
        return second if place == first else first if place == second else place


def swap(stack: str, *, first: int, second: int) -> Edit:
    """Exchanges where two tokens stand, as the model is told it; the tokens stay.

    Args:
        stack: `encoder` or `decoder`.
        first: One position.
        second: The other.
    """
    if stack not in ("encoder", "decoder"):
        raise TraceError("there is no such stack", got=stack, expected="encoder or decoder")
    return _Swap(stack=stack, first=whole_number("position", first), second=whole_number("position", second))
