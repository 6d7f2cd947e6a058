"""Patterns that are drawn by hand, or kept from another run."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.explain.edits.placed import PlacedEdit, as_heads, chosen_heads, first_key, values_of, whole_number
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
    heads, asking = as_heads(head), whole_number("query", query)

    def change(site: str, pattern_BHQK: Tensor, positions: list[int]) -> Tensor | None:
        if asking not in positions:
            return None
        n_keys = pattern_BHQK.shape[3]
        first = first_key(site, positions, n_keys)
        if max(shares) >= n_keys - first:
            raise TraceError(
                "a query cannot look at a position that is not there",
                got=f"position {max(shares)} at {site}",
                expected=f"0 to {n_keys - first - 1}",
            )
        row = torch.zeros(n_keys)
        for place, share in shares.items():
            row[first + place] = share
        changed = pattern_BHQK.clone()
        for one in chosen_heads(site, heads, pattern_BHQK.shape[1]):
            changed[:, one, positions.index(asking)] = row.to(changed)
        return changed

    return PlacedEdit(site=f"{part}.pattern", change=change)


def _shares(key: int | None, weights: Sequence[float | int] | None, *, normalise: bool) -> dict[int, float]:
    """The share of each position that gets one."""
    if (key is None) == (weights is None):
        raise TraceError("a query needs something to look at", got=f"key={key}", expected="a key, or weights")
    if key is not None:
        return {whole_number("key", key): 1.0}
    shares = [float(one) for one in weights or ()]
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
    return {place: one / whole for place, one in enumerate(shares) if one}


def freeze(trace: Trace, part: str, *, head: int | Sequence[int] | None = None) -> PlacedEdit:
    """Keeps the patterns of another run, whatever the scores say.

    Args:
        trace: The run whose patterns to keep; it must have as many positions.
        part: An attention, such as `decoder.1.cross`; globs work.
        head: Which head or heads; all by default.
    """
    heads, values = as_heads(head), values_of(trace)

    def change(site: str, pattern_BHQK: Tensor, positions: list[int]) -> Tensor:
        kept_HQK = values(site)[0]
        n_heads, _, n_keys = pattern_BHQK.shape[1:]
        fits = len(kept_HQK) == n_heads and max(positions) < kept_HQK.shape[1]
        rows_HQK = kept_HQK[:, positions] if fits else kept_HQK[:, :0]
        # A step of decoding sees fewer keys than the whole run; those that it does not see must have no share.
        if not fits or n_keys > rows_HQK.shape[2] or rows_HQK[:, :, n_keys:].any():
            raise TraceError(
                "a pattern of another run does not fit",
                got=f"{site}: {n_heads} heads, {max(positions) + 1} queries, {n_keys} keys",
                expected="{} heads, {} queries, {} keys, as in the run that it comes from".format(*kept_HQK.shape),
                advice="runs of the same length",
            )
        changed = pattern_BHQK.clone()
        for one in chosen_heads(site, heads, n_heads):
            changed[:, one] = torch.tensor(rows_HQK[one][:, :n_keys]).to(changed)
        return changed

    return PlacedEdit(site=f"{part}.pattern", change=change)
