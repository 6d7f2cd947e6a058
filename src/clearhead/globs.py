"""Globs: which sites a listener means, `*` standing for any run of characters, dots too.

Takes: names or globs, and sites.
Gives: whether each site is meant.
Uses:  nothing.
Never: asks the same of the same globs twice.
"""

from fnmatch import fnmatchcase
from functools import lru_cache

__all__ = ["Globs"]


class Globs:
    """Site names or globs; a site with an @ is meant only where a glob spells the @ itself.

    Attributes:
        patterns: The names or globs.
        seen: The sites that were asked about, in that order, and whether they are meant.
    """

    def __init__(self, *, patterns: tuple[str, ...]) -> None:
        self.patterns = patterns
        self.seen: dict[str, bool] = {}

    def match(self, site: str) -> bool:
        """Whether a site is meant."""
        found = self.seen[site] = _fits(site, self.patterns)
        return found

    def match_all(self, sites: tuple[str, ...]) -> tuple[bool, ...]:
        """Whether each of these sites, of which none comes twice, is meant."""
        known = _fitting(sites, self.patterns)
        self.seen.update(known)
        return tuple(known.values())

    def fits(self, site: str) -> bool:
        """Whether a site is meant, without a note that it was asked about."""
        return _fits(site, self.patterns)


@lru_cache(maxsize=4096)
def _fits(site: str, patterns: tuple[str, ...]) -> bool:
    """Remembered, as every run of a model asks the same again."""
    fitting = [pattern for pattern in patterns if "@" in pattern or "@" not in site]
    return any(fnmatchcase(site, pattern) for pattern in fitting)


@lru_cache(maxsize=64)
def _fitting(sites: tuple[str, ...], patterns: tuple[str, ...]) -> dict[str, bool]:
    """The same of all sites of a stack at once."""
    return {site: _fits(site, patterns) for site in sites}
