"""Blocks that are skipped, and values that are brought over from another run."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.explain.edits.placed import PlacedEdit, as_heads, chosen_heads
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
    wanted = [position] if isinstance(position, int) else position
    heads = as_heads(head)

    def change(name: str, value: Tensor, positions: list[int]) -> Tensor:
        axes = trace.record(name).axes
        along = next((axes.index(letter) for letter in "QTS" if letter in axes), None)
        if along is None:
            raise TraceError("only values of positions can be brought over", got=f"{name} with axes {axes}")
        kept = torch.tensor(trace[name])
        if "K" in axes and kept.shape[axes.index("K")] < value.shape[axes.index("K")]:
            raise _lengths(name, kept, value)
        changed = value.clone()
        for local, place in enumerate(positions):
            if wanted is not None and place not in wanted:
                continue
            if place >= kept.shape[along]:
                raise _lengths(name, kept, value)
            source, target = kept.select(along, place), changed.select(along, local)
            if "K" in axes:
                source = source[..., : target.shape[-1]]
            if heads is None or "H" not in axes:
                target.copy_(source)
            else:
                for one in chosen_heads(name, heads, kept.shape[1]):
                    target[:, one] = source[:, one]
        return changed

    return PlacedEdit(site=site, change=change)


def _lengths(site: str, kept: Tensor, value: Tensor) -> TraceError:
    return TraceError(
        "the two runs have different lengths",
        got=f"{site}: {tuple(kept.shape)} in the run that it comes from, {tuple(value.shape)} here",
        expected="runs with as many tokens",
        advice="texts that differ in words of as many tokens, or a position that both have",
    )
