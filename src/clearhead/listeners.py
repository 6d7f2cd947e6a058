"""Listeners: what keeps the values that pass probes, and what replaces them.

Takes: names or globs of sites, and the values that pass there.
Gives: what was kept; or the value to go on with.
Uses:  errors, globs.
Never: torch; a listener does not care what it hears.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from clearhead.errors import TraceError, nearest
from clearhead.globs import Globs

__all__ = ["Edit", "Recorder"]

Value = TypeVar("Value")


class Recorder:
    """A listener that keeps what passes: `recorder["decoder.1.cross.pattern"]`.

    A site that is heard several times (once a decoding step) keeps every value in `history`;
    indexing gives the last one. Values are copied out of the computation: a cache that is
    overwritten later does not change them, and no gradient flows through them. While a model runs
    they are only laid aside: they are sorted by site when somebody asks for them.

    Args:
        sites: Site names or globs; everything, if none is given.
    """

    takes_arrays = False

    def __init__(self, *sites: str) -> None:
        self._globs = Globs(patterns=sites or ("*",))
        self._history: dict[str, list[Any]] = {}
        self._laid_aside: list[tuple[tuple[str, ...], Iterable[Any]]] = []

    @property
    def history(self) -> dict[str, list[Any]]:
        """Every value of each site, in the order in which they passed."""
        aside, self._laid_aside = self._laid_aside, []
        for sites, values in aside:
            for site, value in zip(sites, values, strict=True):
                self._history.setdefault(site, []).append(value)
        return self._history

    def wants(self, site: str) -> bool:
        """Whether the site is one of those asked for."""
        return self._globs.match(site)

    def hear(self, site: str, value: Value) -> Value:
        """Keeps a copy and lets the value pass."""
        self._laid_aside.append(((site,), (_copy(value),)))
        return value

    def wants_all(self, sites: tuple[str, ...]) -> tuple[bool, ...]:
        """Whether each of these sites is one of those asked for."""
        return self._globs.match_all(sites)

    def expect(self, sites: tuple[str, ...]) -> None:
        """Makes place for sites whose values come next, in this order."""
        for site in sites:
            self.history.setdefault(site, [])

    def keep_all(self, sites: tuple[str, ...], values: Iterable[Any]) -> None:
        """Keeps values that nobody else has, one of each site: they need no copy."""
        self._laid_aside.append((sites, values))

    def __getitem__(self, site: str) -> Any:
        if site not in self.history:
            passed = self._globs.seen
            raise TraceError(
                "this site was not recorded",
                got=site,
                expected=_sample(list(self.history)) if self.history else f"a site matching {self._globs.patterns}",
                advice=nearest(site, passed) or ("run a model inside `listen(recorder)`" if not passed else None),
            )
        return self.history[site][-1]

    def __contains__(self, site: str) -> bool:
        return site in self.history

    def __iter__(self) -> Iterator[str]:
        return iter(self.history)

    def __len__(self) -> int:
        return len(self.history)


class Edit:
    """A listener that replaces what passes: `Edit("decoder.5.ffn.output", torch.zeros_like)`.

    Args:
        site: A site name or glob.
        change: Takes the value, gives the one to go on with, of the same shape.
    """

    def __init__(self, site: str, change: Callable[[Any], Any]) -> None:
        self._site = site
        self._globs = Globs(patterns=(site,))
        self._change = change

    def wants(self, site: str) -> bool:
        """Whether the site is one of those to change."""
        return self._globs.match(site)

    def changes(self, site: str) -> bool:
        """Whether what passes this site may leave it changed."""
        return self._globs.fits(site)

    def hear(self, site: str, value: Any) -> Any:
        """Gives what `change` makes of the value."""
        changed = self._change(value)
        if _kind(changed) != _kind(value):
            raise TraceError(
                f"an edit at {site} gave another kind of value",
                got=_kind(changed),
                expected=_kind(value),
                advice="return a value of the shape and kind that came in",
            )
        return changed

    def forget(self) -> None:
        """Begins anew to note which sites pass."""
        self._globs.seen.clear()

    def check_used(self) -> None:
        """Raises if probes passed and none was at this edit's site."""
        passed = self._globs.seen
        if passed and not any(passed.values()):
            raise TraceError(
                "an edit's site does not exist in this model, so it changed nothing",
                got=self._site,
                expected=_sample(list(passed)),
                advice=nearest(self._site, passed),
            )


def _kind(value: Any) -> str:
    """A value's type, shape and kind of number, as a message can hold them; a parameter is a tensor too."""
    name = "Tensor" if hasattr(value, "detach") else type(value).__name__
    details = [str(getattr(value, detail)) for detail in ("shape", "dtype") if hasattr(value, detail)]
    return " ".join([name, *details])


def _copy(value: Any) -> Any:
    return value.detach().clone() if hasattr(value, "detach") else value


def _sample(sites: list[str]) -> str:
    sites = [site for site in sites if "@" not in site] or sites
    return ", ".join(sites[:5]) + (f" and {len(sites) - 5} more" if len(sites) > 5 else "")
