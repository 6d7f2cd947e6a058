"""What heads do, in a few numbers each."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clearhead.errors import TraceError


@dataclass(frozen=True, kw_only=True)
class HeadSummary:
    """One head over one text; shares are means over its queries.

    Attributes:
        site: Whose pattern it is.
        head: Which head.
        previous: The share that goes to the token before.
        first: The share that goes to the first token.
        own: The share that goes to the token itself, or for cross-attention to the place that is as far along.
        entropy: How spread the shares are, in bits.
        distance: How many positions away it looks, weighed by the shares; for cross-attention, from the place that is
            as far along.
        sharpest: The mean of each query's greatest share.
    """

    site: str
    head: int
    previous: float
    first: float
    own: float
    entropy: float
    distance: float
    sharpest: float

    @property
    def kind(self) -> str:
        """What it mostly does, where one thing stands out."""
        shares = {"previous token": self.previous, "first token": self.first, "itself": self.own}
        name, share = max(shares.items(), key=lambda item: item[1])
        return name if share > 0.5 else "spread" if self.sharpest < 0.3 else "elsewhere"


def summaries(patterns: Mapping[str, np.ndarray]) -> list[HeadSummary]:
    """A summary of every head of some patterns, each with the axes B H Q K.

    Raises:
        TraceError: No pattern, or something that is none.
    """
    found: list[HeadSummary] = []
    for site, pattern_BHQK in patterns.items():
        if pattern_BHQK.ndim != 4:
            raise TraceError(f"{site} is no pattern", got=f"shape {pattern_BHQK.shape}", expected="B H Q K")
        found += [_summary(site, head, pattern_BHQK[0, head]) for head in range(pattern_BHQK.shape[1])]
    if not found:
        raise TraceError("no pattern was recorded", expected="sites such as decoder.*.self.pattern")
    return found


def _summary(site: str, head: int, pattern_QK: np.ndarray) -> HeadSummary:
    pattern_QK = pattern_QK.astype(np.float64)
    n_queries, n_keys = pattern_QK.shape
    crosses = ".cross." in f".{site}"
    query: np.ndarray = np.arange(n_queries, dtype=np.float64)[:, None]
    key: np.ndarray = np.arange(n_keys, dtype=np.float64)[None]
    along: np.ndarray = query * ((n_keys - 1) / max(1, n_queries - 1)) if crosses else query + (n_keys - n_queries)
    before: np.ndarray = key == (np.full_like(along, -1.0) if crosses else along - 1)
    logs = np.log2(np.where(pattern_QK > 0, pattern_QK, 1.0))
    rows = n_queries - (1 if not crosses and n_queries == n_keys and n_queries > 1 else 0)
    return HeadSummary(
        site=site,
        head=head,
        previous=float((pattern_QK * before).sum() / rows),
        first=float(pattern_QK[:, 0].mean()),
        own=float((pattern_QK * (key == np.rint(along))).sum() / n_queries),
        entropy=float(-(pattern_QK * logs).sum() / n_queries),
        distance=float((pattern_QK * np.abs(key - along)).sum() / n_queries),
        sharpest=float(pattern_QK.max(-1).mean()),
    )
