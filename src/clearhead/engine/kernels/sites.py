"""What a kernel computed, at the sites where the parts would have it.

Who hears what does not change while somebody listens: it is asked once, and every step tells only what is heard. Steps
are short: a listener that only keeps values is not told them site by site. A buffer lies in one piece for all blocks,
and one call keeps it for all of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from clearhead.config import NormPlacement, StackConfig
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import Buffers
from clearhead.probe import Listener, around

_KEYS, _SOURCE = -1, -2
"""Sizes that a step fills in: how many keys, and how many positions of a source."""
_BY_PART = -1
"""The buffer of what a part computes and tells: it has none, only a place in the order."""
tensor_of = cast("Callable[[np.ndarray], Tensor]", torch.from_numpy)  # pyright: ignore[reportUnknownMemberType]


@runtime_checkable
class _Keeper(Protocol):
    """A listener that keeps values of several sites at once.

    It takes an array, to keep a copy of it, and the shape that one site has of it; or tensors of its own.
    """

    takes_arrays: bool

    def wants_all(self, sites: tuple[str, ...]) -> tuple[bool, ...]: ...

    def expect(self, sites: tuple[str, ...]) -> None: ...

    def keep_all(self, sites: tuple[str, ...], *values: Any) -> None: ...


class _Left(NamedTuple):
    """Where the kernel leaves a value: the kind of its site, the block, the buffer, its sizes, and what to skip."""

    kind: str
    layer: int
    place: int
    sizes: tuple[int, ...]
    skip: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sites:
    """Every site of a stack in its order, and where its values are left; known by itself, not by what it holds."""

    names: tuple[str, ...]
    lefts: tuple[_Left, ...]


SitesOf = Callable[..., _Sites]


class Told(NamedTuple):
    """A site that some hear by itself."""

    site: str
    listeners: tuple[Listener, ...]
    left: _Left


class Kept(NamedTuple):
    """Sites of one kind that a listener keeps together."""

    sites: tuple[str, ...]
    keep_all: Callable[..., None]
    takes_arrays: bool
    layers: slice | list[int]
    left: _Left


class Heard(NamedTuple):
    """All that somebody hears of a stack, and which buffers that takes in every block.

    Attributes:
        told: What is heard by itself, in the order of the blocks.
        kept: What is kept together.
        coming: Tells those who keep which sites will come, in the order of the blocks; empty once they know.
        apart: The buffers.
    """

    told: tuple[Told, ...]
    kept: tuple[Kept, ...]
    coming: list[tuple[_Keeper, tuple[str, ...]]]
    apart: frozenset[int]


NOTHING = Heard((), (), [], frozenset())


def sites_of(config: StackConfig, *, n_layers: int, has_cross: bool) -> SitesOf:
    """What gives the sites of a stack, which are named once for what stands before them and whether it rotates."""
    return lru_cache(maxsize=16)(partial(_sites, config, n_layers=n_layers, has_cross=has_cross))


def plan(sites: SitesOf, *, rotated: bool, begins: bool = False) -> Heard:
    """What somebody hears now of a stack with these sites.

    Args:
        sites: Gives them.
        rotated: Whether queries and keys turn.
        begins: Whether it is the first step, in which parts look up keys and values of a source.
    """
    prefix, listeners = around()
    every = sites(prefix, rotated=rotated, begins=begins)
    alone: dict[int, list[Listener]] = {}
    kept: list[Kept] = []
    coming: list[tuple[_Keeper, tuple[str, ...]]] = []
    for listener in listeners:
        if _keeps(type(listener)):
            keeper = cast(_Keeper, listener)
            order, kinds = _together(every, keeper.wants_all(every.names))
            kept += [
                Kept(sites, keeper.keep_all, keeper.takes_arrays, layers, left)
                for sites, layers, left in kinds
                if left.place != _BY_PART
            ]
            coming += [(keeper, order)] if order else []
        else:
            for index, name in enumerate(every.names):
                if listener.wants(name):
                    alone.setdefault(index, []).append(listener)
    told = [Told(every.names[index], tuple(alone[index]), every.lefts[index]) for index in sorted(alone)]
    return Heard(tuple(told), tuple(kept), coming, frozenset(one.left.place for one in (*told, *kept)))


def anybody_hears(names: tuple[str, ...]) -> bool:
    """Whether somebody hears any of these sites, named from the present scope on."""
    prefix, listeners = around()
    whole = tuple(prefix + name for name in names) if prefix else names
    return any(
        any(cast(_Keeper, one).wants_all(whole)) if _keeps(type(one)) else any(map(one.wants, whole))
        for one in listeners
    )


@lru_cache(maxsize=64)
def _keeps(listener: type) -> bool:
    """Whether a kind of listener keeps several sites at once; a subclass of one may hear in a way of its own."""
    hearing = next((one for one in listener.__mro__ if vars(one).keys() & {"hear", "wants"}), listener)
    return "keep_all" in vars(hearing)


@lru_cache(maxsize=64)
def _together(
    every: _Sites, wanted: tuple[bool, ...]
) -> tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], slice | list[int], _Left], ...]]:
    """The sites that are wanted, in their order, and the same kind by kind: sites, blocks, and where they are left."""
    names, lefts = every.names, every.lefts
    kinds: dict[str, list[int]] = {}
    for index, left in enumerate(lefts):
        if wanted[index]:
            kinds.setdefault(left.kind, []).append(index)
    found: list[tuple[tuple[str, ...], slice | list[int], _Left]] = []
    for indices in kinds.values():
        layers = [lefts[index].layer for index in indices]
        whole = layers == list(range(layers[0], layers[-1] + 1))
        chosen = slice(layers[0], layers[-1] + 1) if whole else layers  # a slice of a buffer is no copy of it
        found.append((tuple(names[index] for index in indices), chosen, lefts[indices[0]]))
    return tuple(name for name, wants in zip(names, wanted, strict=True) if wants), tuple(found)


def tell(heard: Heard, buffers: Buffers, *, n_rows: int, n_keys: int, n_source: int) -> None:
    """Lets all who hear something of a step take a copy."""
    for site, listeners, (_, layer, place, sizes, skip) in heard.told:
        value = buffers.rows(place, n_rows, *filled(sizes, n_keys, n_source), skip=skip, layer=layer)
        for listener in listeners:
            listener.hear(site, value)
    if heard.coming:
        announce(heard)
    for sites, keep_all, takes_arrays, layers, (_, _, place, sizes, skip) in heard.kept:
        shape = (n_rows, *filled(sizes, n_keys, n_source))
        values = buffers.every(place, n_rows, prod(shape[1:]), skip=skip, layers=layers)
        if takes_arrays:
            keep_all(sites, values, shape)
        else:
            keep_all(sites, map(tensor_of, values.copy().reshape(len(sites), *shape)))


def tell_patterns(heard: Heard, every_LBHQK: np.ndarray) -> None:
    """Lets all who hear patterns of whole texts take a copy."""
    for site, listeners, left in heard.told:
        value = tensor_of(every_LBHQK[left.layer].copy())
        for listener in listeners:
            listener.hear(site, value)
    if heard.coming:
        announce(heard)
    for sites, keep_all, takes_arrays, layers, _ in heard.kept:
        values = every_LBHQK[layers]
        if takes_arrays:
            keep_all(sites, values, values.shape[1:])
        else:
            keep_all(sites, map(tensor_of, values.copy()))


def filled(sizes: tuple[int, ...], n_keys: int, n_source: int) -> tuple[int, ...]:
    """The sizes of a value in a step of so many keys."""
    last = sizes[-1]  # the only one that a step fills in
    return sizes if last > 0 else (*sizes[:-1], n_keys if last == _KEYS else n_source)


def announce(heard: Heard) -> None:
    """Tells those who keep values together which will come, once."""
    for keeper, sites in heard.coming:
        keeper.expect(sites)
    heard.coming.clear()


def _sites(config: StackConfig, prefix: str, *, n_layers: int, has_cross: bool, rotated: bool, begins: bool) -> _Sites:
    block = tuple(_inside(config, has_cross=has_cross, rotated=rotated, begins=begins))
    found = [_Left(kind, layer, place, sizes, skip) for layer in range(n_layers) for kind, place, sizes, skip in block]
    return _Sites(names=tuple(f"{prefix}{left.layer}.{left.kind}" for left in found), lefts=tuple(found))


_Site = tuple[str, int, tuple[int, ...], int]


def _inside(config: StackConfig, *, has_cross: bool, rotated: bool, begins: bool) -> Iterator[_Site]:
    """Every site of one block, in its order: its kind, buffer, sizes, and what to skip of the buffer."""
    row = (1, config.width)
    yield "resid_pre", at.PRE, row, 0
    yield from _part(config, "self", (at.SELF_IN, at.MID), _looking_around(config, rotated=rotated))
    yield "resid_mid", at.MID, row, 0
    if has_cross:
        yield from _part(config, "cross", (at.CROSS_IN, at.CROSS_SUM), _looking_across(config, begins=begins))
        yield "resid_cross", at.CROSS_SUM, row, 0
    thinking: list[_Site] = [("hidden", at.HIDDEN, (1, config.feedforward.width), 0), ("output", at.FFN_OUT, row, 0)]
    yield from _part(config, "ffn", (at.FFN_IN, at.POST), thinking)
    yield "resid_post", at.POST, row, 0


def _part(config: StackConfig, name: str, norms: tuple[int, int], own: Iterable[_Site]) -> Iterator[_Site]:
    """A part of a block with its norm, which comes before it or after, and is left in another buffer then."""
    before = config.norm.placement is NormPlacement.BEFORE
    norm = f"{name}.norm", norms[0] if before else norms[1], (1, config.width), 0
    if before:
        yield norm
    yield from ((f"{name}.{kind}", place, sizes, skip) for kind, place, sizes, skip in own)
    if not before:
        yield norm


def _looking_around(config: StackConfig, *, rotated: bool) -> Iterator[_Site]:
    n_heads, groups, head = config.attention.n_heads, config.attention.kv_heads, config.head_width
    yield "query", at.SELF_QKV, (n_heads, 1, head), 0
    if rotated:
        yield "rotated_query", at.TURNED, (n_heads, 1, head), 0
    yield "key", at.SELF_QKV, (groups, 1, head), n_heads * head
    yield "value", at.SELF_QKV, (groups, 1, head), (n_heads + groups) * head
    if rotated:
        yield "rotated_key", at.TURNED_KEY, (groups, 1, head), 0
    yield "score", at.SCORES, (n_heads, 1, _KEYS), 0
    yield "pattern", at.PATTERN, (n_heads, 1, _KEYS), 0
    yield "mixed", at.MIXED, (n_heads, 1, head), 0
    yield "output", at.SELF_OUT, (1, config.width), 0


def _looking_across(config: StackConfig, *, begins: bool) -> Iterator[_Site]:
    n_heads, head = config.attention.n_heads, config.head_width
    yield "query", at.CROSS_Q, (n_heads, 1, head), 0
    if begins:
        yield "key", _BY_PART, (), 0
        yield "value", _BY_PART, (), 0
    yield "score", at.CROSS_SCORES, (n_heads, 1, _SOURCE), 0
    yield "pattern", at.CROSS_PATTERN, (n_heads, 1, _SOURCE), 0
    yield "mixed", at.CROSS_MIXED, (n_heads, 1, head), 0
    yield "output", at.CROSS_OUT, (1, config.width), 0
