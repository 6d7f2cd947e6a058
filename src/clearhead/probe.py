"""Probes: the places in a forward pass where a value can be seen or replaced.

Takes: a value on its way through a model, and the name of the place.
Gives: the same value, or what a listener put in its stead.
Uses:  listeners.
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

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, runtime_checkable

from clearhead.listeners import Edit, Recorder

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
