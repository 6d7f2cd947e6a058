"""Measures by length: what holds on average may not hold for long texts."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from clearhead.training.assessment.results import LengthRow

EDGES = (10, 20, 30, 40)
"""The longest of each group but the last, in words."""

_N_GROUPS = 5
_LEAST_SHARE = 0.05
_LEAST_GROUPS = 3


def n_words(text: str) -> int:
    """Words as white space divides them."""
    return len(text.split())


def by_length(
    lengths: Sequence[int],
    measure: Callable[[list[int]], Mapping[str, float | None]],
    *,
    edges: Sequence[int] | None = None,
) -> tuple[LengthRow, ...]:
    """The measures of groups of examples, the shortest first; a group without any is left out.

    Args:
        lengths: The words of each example.
        measure: Gives the measures of the examples at these places.
        edges: The longest of each group but the last; None for `EDGES`, or for groups of about equal numbers where
            the corpus is so short that few of those would be filled.
    """
    if edges is None:
        edges = EDGES if _fills(lengths) else _quantiles(lengths)
    limits = [*edges, None]
    rows: list[LengthRow] = []
    least = 1
    for most in limits:
        places = [place for place, length in enumerate(lengths) if _group(length, edges) == (most or 0)]
        if places:
            rows.append(LengthRow(least=least, most=most, n=len(places), measures=measure(places)))
        least = least if most is None else most + 1
    return tuple(rows)


def _group(length: int, edges: Sequence[int]) -> int:
    """The edge that a length falls under, or 0 beyond the last."""
    return next((edge for edge in edges if length <= edge), 0)


def _fills(lengths: Sequence[int]) -> bool:
    groups = [_group(length, EDGES) for length in lengths]
    filled = [edge for edge in (*EDGES, 0) if groups.count(edge) >= _LEAST_SHARE * len(groups)]
    return len(filled) >= _LEAST_GROUPS


def _quantiles(lengths: Sequence[int]) -> list[int]:
    shares = [group / _N_GROUPS for group in range(1, _N_GROUPS)]
    return sorted({int(edge) for edge in np.quantile(lengths, shares, method="inverted_cdf")})
