"""Probes: the places in a forward pass where a value can be seen or replaced.

Takes: a value on its way through a model, and the name of the place.
Gives: the same value, or what a listener put in its stead.
Uses:  errors, globs.
Never: torch; a probe does not care what passes through it.

A part calls `probe("pattern", pattern_BHQK)`; the scopes around it make the full site, `decoder.2.cross.pattern`:

    with scope("decoder"), scope("2"), scope("cross"):
        pattern_BHQK = probe("pattern", pattern_BHQK)

Listeners hear in the order in which they began to listen, each what the one before left, so that a recorder inside
an edit records the edited value. They belong to the thread (or task) that began to listen: other requests of a server
pass their probes unheard. A generator must not yield while it listens: what its caller runs meanwhile would be heard.

A name that begins with @ is no value of the model but what steers it: `decoder.@positions`, `encoder.@mask`, `@ids`.
A glob hears it only where it spells the @ itself, so that `decoder.*` means values alone.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, runtime_checkable

from clearhead.errors import TraceError, nearest
from clearhead.globs import Globs

__all__ = ["Edit", "Listener", "Recorder", "around", "borrowed", "edited", "heard", "intact", "listen", "once"]
__all__ += ["probe", "scope"]

Value = TypeVar("Value")


@runtime_checkable
class Listener(Protocol):
    """Anything that wants to hear some sites."""

    def wants(self, site: str) -> bool:
        """Whether this listener wants to hear a site."""
        ...

    def hear(self, site: str, value: Any) -> Any:
        """Takes note of a value; gives back the value to go on with."""
        ...


class _Place(dict[str, tuple[Listener, ...]]):
    """Where a pass is, for some listeners: the scopes that it is in, and who hears each of its sites.

    Every step of decoding passes the same places, so that each site is asked about once and remembered. A place is the
    block of its own scope too: entering it makes nothing, and leaving goes back to the place around it.
    """

    __slots__ = ("_around", "inside", "listeners", "made", "prefix")

    def __init__(self, *, listeners: tuple[Listener, ...], prefix: str = "", around: "_Place | None" = None) -> None:
        self.listeners = listeners
        self.prefix = prefix
        self._around = around
        self.inside: dict[str, _Place] = {}
        self.made: dict[object, Any] | None = None

    def __missing__(self, name: str) -> tuple[Listener, ...]:
        site = self.prefix + name
        found = self[name] = tuple([listener for listener in self.listeners if listener.wants(site)])
        return found

    def forget(self) -> None:
        """Lets go of the places inside: each knows the one around it, and such rings would stay for long."""
        for place in self.inside.values():
            place.forget()
        self.inside.clear()

    def __enter__(self) -> None:
        _place.set(self)

    def __exit__(self, *_: object) -> None:
        _place.set(self._around)


_place: ContextVar[_Place | None] = ContextVar("place", default=None)  # None where nobody listens
_nowhere: AbstractContextManager[None] = nullcontext()


def probe(name: str, value: Value) -> Value:
    """The value itself, unless somebody listens at this site."""
    place = _place.get()
    if place is None:
        return value
    for listener in place[name]:
        value = listener.hear(place.prefix + name, value)
    return value


def heard(*names: str) -> bool:
    """Whether anybody wants one of these sites of the present scope: asked where a faster way would not compute it."""
    place = _place.get()
    return place is not None and any(place[name] for name in names)


def around() -> tuple[str, tuple[Listener, ...]]:
    """What stands before the sites of the present scope, and who listens: for a part that tells many sites at once."""
    place = _place.get()
    return ("", ()) if place is None else (place.prefix, place.listeners)


def once(key: object, make: Callable[[], Value]) -> Value | None:
    """What `make` gives, made once for those who listen at this place now; None where nobody does."""
    place = _place.get()
    if place is None:
        return None
    made = place.made
    if made is None:
        made = place.made = {}
    if key not in made:
        made[key] = make()
    return made[key]


def edited(site: str) -> bool:
    """Whether an edit that listens now may change what passes a site."""
    return any(isinstance(listener, Edit) and listener.changes(site) for listener in present())


def borrowed() -> bool:
    """Whether all who listen, if any do, copy what they hear and let it pass: no value outlives its pass."""
    return all(getattr(listener, "only_copies", False) for listener in present())


def intact() -> bool:
    """Whether all who listen, if any do, let every value pass as it is: it may be told them after it was used."""
    return all(isinstance(one, Recorder) or getattr(one, "only_copies", False) for one in present())


def scope(name: str) -> AbstractContextManager[None]:
    """Puts a name before the sites of all probes inside."""
    place = _place.get()
    if place is None:
        return _nowhere
    found = place.inside.get(name)
    if found is None:
        found = _Place(listeners=place.listeners, prefix=f"{place.prefix}{name}.", around=place)
        place.inside[name] = found
    return found


def present() -> tuple[Listener, ...]:
    """Who listens now."""
    place = _place.get()
    return () if place is None else place.listeners


@contextmanager
def listen(*listeners: Listener) -> Generator[None]:
    """Lets listeners hear, after those that listen already, until the block ends.

    Raises:
        TraceError: An edit passed probes but none at its site: it changed nothing.
    """
    edits = [listener for listener in listeners if isinstance(listener, Edit)]
    for edit in edits:
        edit.forget()
    prefix, others = around()
    place = _Place(listeners=(*others, *listeners), prefix=prefix)
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)
        place.forget()
    for edit in edits:
        edit.check_used()


class Recorder:
    """A listener that keeps what passes: `recorder["decoder.1.cross.pattern"]`.

    A site that is heard several times (once a decoding step) keeps every value in `history`;
    indexing gives the last one. Values are copied out of the computation: a cache that is
    overwritten later does not change them, and no gradient flows through them.

    Args:
        sites: Site names or globs; everything, if none is given.
    """

    takes_arrays = False

    def __init__(self, *sites: str) -> None:
        self._globs = Globs(patterns=sites or ("*",))
        self.history: dict[str, list[Any]] = {}

    def wants(self, site: str) -> bool:
        """Whether the site is one of those asked for."""
        return self._globs.match(site)

    def hear(self, site: str, value: Value) -> Value:
        """Keeps a copy and lets the value pass."""
        self.history.setdefault(site, []).append(_copy(value))
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
        for site, value in zip(sites, values, strict=True):
            self.history[site].append(value)

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
