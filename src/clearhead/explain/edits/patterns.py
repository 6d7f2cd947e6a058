"""Patterns that are drawn by hand, or kept from another run."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.explain.edits.placed import PlacedEdit, as_heads, chosen_heads
from clearhead.trace import Trace

_NEAR = 1e-4


def look_at(
    part: str,
    *,
    query: int,
    key: int | None = None,
    weights: Sequence[float | int] | None = None,
    head: int | Sequence[int] | None = None,
    normalise: bool = False,
) -> PlacedEdit:
    """Makes one query look where it is told.

    Args:
        part: An attention, such as `decoder.1.cross`; globs work.
        query: The position that looks.
        key: The one position that it looks at.
        weights: Instead of `key`: a share for each position, from the first on; the others get 0.
        head: Which head or heads; all by default.
        normalise: Whether to divide shares that do not sum to 1 by their sum.

    Raises:
        TraceError: Shares that do not sum to 1, or neither a key nor shares.
    """
    shares = _shares(key, weights, normalise=normalise)
    heads = as_heads(head)

    def change(site: str, pattern_BHQK: Tensor, positions: list[int]) -> Tensor:
        if query not in positions:
            return pattern_BHQK
        n_keys = pattern_BHQK.shape[3]
        if len(shares) > n_keys:
            raise TraceError(
                "a query cannot look at a position that is not there",
                got=f"position {len(shares) - 1} at {site}",
                expected=f"0 to {n_keys - 1}",
            )
        row = torch.zeros(n_keys)
        row[: len(shares)] = torch.tensor(shares)
        changed = pattern_BHQK.clone()
        for one in chosen_heads(site, heads, pattern_BHQK.shape[1]):
            changed[:, one, positions.index(query)] = row.to(changed)
        return changed

    return PlacedEdit(site=f"{part}.pattern", change=change)


def _shares(key: int | None, weights: Sequence[float | int] | None, *, normalise: bool) -> list[float]:
    if (key is None) == (weights is None) or (key is not None and key < 0):
        raise TraceError("a query needs something to look at", got=f"key={key}", expected="a key, or weights")
    shares = [0.0] * key + [1.0] if key is not None else [float(one) for one in weights or ()]
    whole = math.fsum(shares)
    if not all(math.isfinite(one) and one >= 0 for one in shares) or whole <= 0:
        raise TraceError("shares of attention are numbers from 0 up", got=shares, expected="some above 0")
    if abs(whole - 1) > _NEAR and not normalise:
        raise TraceError(
            "the shares of a query must sum to 1",
            got=f"a sum of {whole:.6g}",
            expected="1",
            advice="normalise=True divides them by their sum",
        )
    return [one / whole for one in shares]


def freeze(trace: Trace, part: str, *, head: int | Sequence[int] | None = None) -> PlacedEdit:
    """Keeps the patterns of another run, whatever the scores say.

    Args:
        trace: The run whose patterns to keep; it must have as many positions.
        part: An attention, such as `decoder.1.cross`; globs work.
        head: Which head or heads; all by default.
    """
    heads = as_heads(head)

    def change(site: str, pattern_BHQK: Tensor, positions: list[int]) -> Tensor:
        kept = torch.tensor(trace[site])
        n_keys = pattern_BHQK.shape[3]
        if max(positions) >= kept.shape[2] or n_keys > kept.shape[3]:
            raise TraceError(
                "a pattern of another run does not fit",
                got=f"{site}: {max(positions) + 1} queries and {n_keys} keys",
                expected=f"at most {kept.shape[2]} and {kept.shape[3]}, as in the run that it comes from",
                advice="runs of the same length",
            )
        changed = pattern_BHQK.clone()
        for one in chosen_heads(site, heads, pattern_BHQK.shape[1]):
            changed[:, one] = kept[0, one][positions][:, :n_keys].to(changed)
        return changed

    return PlacedEdit(site=f"{part}.pattern", change=change)
