"""Blocks that are skipped, and values that are brought over from another run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.explain.edits.placed import PlacedEdit, as_heads, chosen_heads, values_of, whole_numbers
from clearhead.probe import Edit
from clearhead.trace import Trace


class _Skip(Edit):
    """A block whose input is its output."""

    def __init__(self, *, block: str) -> None:
        super().__init__(f"{block}.resid_post", lambda value: value)
        self._before = Edit(f"{block}.resid_pre", lambda value: value)
        self._kept: dict[str, Any] = {}

    def wants(self, site: str) -> bool:
        """Whether the site is where the block begins or ends."""
        return self._before.wants(site) or super().wants(site)

    def hear(self, site: str, value: Any) -> Any:
        """Keeps what goes in, and gives it where it comes out."""
        block, leaf = site.rsplit(".", 1)
        if leaf == "resid_pre":
            self._kept[block] = value
            return value
        return self._kept.pop(block)


def skip(block: str) -> Edit:
    """Lets the stream pass a block as if it were not there.

    Args:
        block: A block, such as `decoder.3`; globs work.
    """
    return _Skip(block=block)


def patch(
    trace: Trace,
    site: str,
    *,
    position: int | Sequence[int] | None = None,
    head: int | Sequence[int] | None = None,
) -> PlacedEdit:
    """Brings values over from another run (activation patching).

    Args:
        trace: The run that they come from.
        site: A site name or glob.
        position: Which position or positions; all by default.
        head: Which head or heads, at a site that has heads; all by default.
    """
    wanted = None if position is None else whole_numbers("position", position)
    heads, values = as_heads(head), values_of(trace)

    def change(name: str, value: Tensor, positions: list[int]) -> Tensor | None:
        axes = trace.record(name).axes
        along = _along(name, axes, heads)
        kept = values(name)
        meant = [(local, place) for local, place in enumerate(positions) if wanted is None or place in wanted]
        if not meant:
            return None
        if not _fits(name, kept, value, along, [place for _, place in meant], whole=wanted is None):
            raise _lengths(name, kept, value)
        changed = value.clone()
        for local, place in meant:
            source, target = torch.tensor(kept.take(place, axis=along)), changed.select(along, local)
            source = source[..., : target.shape[-1]]
            for one in [slice(None)] if heads is None else chosen_heads(name, heads, kept.shape[1]):
                target[:, one] = source[:, one].to(target)
        return changed

    return PlacedEdit(site=site, change=change)


def _along(site: str, axes: str, heads: Sequence[int] | None) -> int:
    """The axis of a site that positions stand along."""
    own = "QTSK" if ".self." in site else "QTS"
    along = next((axes.index(letter) for letter in own if letter in axes), None)
    if along is None or not site.startswith(("encoder.", "decoder.")):
        raise TraceError(
            "only what a block computes for its own positions can be brought over", got=f"{site} with axes {axes}"
        )
    if heads is not None and not set("HG") & set(axes):
        raise TraceError("a head, at a site without heads", got=f"{site} with axes {axes}", expected="no head")
    return along


def _fits(site: str, kept: np.ndarray, value: Tensor, along: int, places: list[int], *, whole: bool) -> bool:
    """Whether a run has values for all that is meant, and of the same width."""
    if max(places) >= kept.shape[along]:
        return False
    if whole and site.startswith("encoder.") and kept.shape[along] != value.shape[along]:
        return False
    if site.endswith((".score", ".pattern")):
        # A step of decoding sees fewer keys than the whole run; those that it does not see must be empty there.
        n_keys = value.shape[3]
        unseen = np.nan_to_num(kept[:, :, places][..., n_keys:])
        return kept.shape[1] == value.shape[1] and n_keys <= kept.shape[3] and not unseen.any()
    return all(kept.shape[axis] == value.shape[axis] for axis in range(1, kept.ndim) if axis != along)


def _lengths(site: str, kept: np.ndarray, value: Tensor) -> TraceError:
    return TraceError(
        "the two runs have different lengths",
        got=f"{site}: {tuple(kept.shape)} in the run that it comes from, {tuple(value.shape)} here",
        expected="runs with as many tokens",
        advice="texts that differ in words of as many tokens, or a position that both have",
    )
