"""What a kernel computed, at the sites where the parts would have it.

Who hears what does not change while somebody listens: it is asked once, and every step tells only what is heard. A
listener that has a `keep` beside its `hear` is given arrays, of which it takes a copy: a tensor takes several times as
long to make, and steps are short.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

from clearhead.config import NormPlacement, StackConfig
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import Buffers
from clearhead.probe import Listener, around

_KEYS, _SOURCE = -1, -2
"""Sizes that a step fills in: how many keys, and how many positions of a source."""
_Keep = Callable[[str, np.ndarray], None]


class Told(NamedTuple):
    """A site that somebody hears, and where the kernel leaves its value."""

    site: str
    keepers: tuple[_Keep, ...]
    listeners: tuple[Listener, ...]
    layer: int
    place: int
    sizes: tuple[int, ...]
    skip: int


class Heard(NamedTuple):
    """All that somebody hears of a stack, in the order of its blocks, and which buffers that takes in every block."""

    told: tuple[Told, ...]
    apart: frozenset[int]


NOTHING = Heard((), frozenset())


def plan(config: StackConfig, *, n_layers: int, has_cross: bool, rotated: bool) -> Heard:
    """What somebody hears now."""
    prefix, listeners = around()
    told: list[Told] = []
    for layer, path, place, sizes, skip in _sites(config, n_layers=n_layers, has_cross=has_cross, rotated=rotated):
        site = prefix + path
        hearers = [one for one in listeners if one.wants(site)]
        if hearers:
            keepers = tuple(keep for one in hearers if (keep := getattr(one, "keep", None)) is not None)
            others = tuple(one for one in hearers if not hasattr(one, "keep"))
            told.append(Told(site, keepers, others, layer, place, sizes, skip))
    return Heard(tuple(told), frozenset(one.place for one in told))


def tell(told: tuple[Told, ...], buffers: Buffers, *, n_rows: int, n_keys: int, n_source: int) -> None:
    """Lets all who hear these sites take a copy."""
    for site, keepers, listeners, layer, place, sizes, skip in told:
        shape = [n_keys if size == _KEYS else n_source if size == _SOURCE else size for size in sizes]
        if keepers:
            array = buffers.array(place, n_rows, *shape, skip=skip, layer=layer)
            for keep in keepers:
                keep(site, array)
        if listeners:
            value = buffers.rows(place, n_rows, *shape, skip=skip, layer=layer)
            for listener in listeners:
                listener.hear(site, value)


def tell_patterns(told: tuple[Told, ...], patterns: np.ndarray, *, n_texts: int) -> None:
    """Lets all who hear patterns of texts of one length take a copy; they lie as [layer, row, head, key]."""
    _, n_rows, n_heads, n_keys = patterns.shape
    for site, keepers, listeners, layer, *_ in told:
        pattern_BHQK = patterns[layer].reshape(n_texts, n_rows // n_texts, n_heads, n_keys).swapaxes(1, 2)
        for keep in keepers:
            keep(site, pattern_BHQK)
        for listener in listeners:
            listener.hear(site, torch.as_tensor(pattern_BHQK.copy()))


_Inside = tuple[str, int, tuple[int, ...], int]
_Site = tuple[int, str, int, tuple[int, ...], int]


@lru_cache(maxsize=64)
def _sites(config: StackConfig, *, n_layers: int, has_cross: bool, rotated: bool) -> tuple[_Site, ...]:
    """Every site of a stack, in its order: block, path, buffer, sizes, and what to skip of the buffer."""
    found: list[_Site] = []
    for layer in range(n_layers):
        inside = [*_before(config, layer), *_after(config, layer, has_cross=has_cross, rotated=rotated)]
        found += [(layer, *one) for one in inside]
    return tuple(found)


def _before(config: StackConfig, layer: int) -> Iterator[_Inside]:
    yield f"{layer}.resid_pre", at.PRE, (1, config.width), 0


def _after(config: StackConfig, layer: int, *, has_cross: bool, rotated: bool) -> Iterator[_Inside]:
    """Every site of one block that has a value once it is passed, in the order of the block."""
    attention, head, row = config.attention, config.head_width, (1, config.width)
    n_heads, groups = attention.n_heads, attention.kv_heads
    norms_before = config.norm.placement is NormPlacement.BEFORE
    own = f"{layer}.self"
    yield f"{own}.norm", at.SELF_IN if norms_before else at.MID, row, 0
    yield f"{own}.query", at.SELF_QKV, (n_heads, 1, head), 0
    if rotated:
        yield f"{own}.rotated_query", at.TURNED, (n_heads, 1, head), 0
    yield f"{own}.key", at.SELF_QKV, (groups, 1, head), n_heads * head
    yield f"{own}.value", at.SELF_QKV, (groups, 1, head), (n_heads + groups) * head
    if rotated:
        yield f"{own}.rotated_key", at.TURNED_KEY, (groups, 1, head), 0
    yield f"{own}.score", at.SCORES, (n_heads, 1, _KEYS), 0
    yield f"{own}.pattern", at.PATTERN, (n_heads, 1, _KEYS), 0
    yield f"{own}.mixed", at.MIXED, (n_heads, 1, head), 0
    yield f"{own}.output", at.SELF_OUT, row, 0
    yield f"{layer}.resid_mid", at.MID, row, 0
    if has_cross:
        across = f"{layer}.cross"
        yield f"{across}.norm", at.CROSS_IN if norms_before else at.CROSS_SUM, row, 0
        yield f"{across}.query", at.CROSS_Q, (n_heads, 1, head), 0
        yield f"{across}.score", at.CROSS_SCORES, (n_heads, 1, _SOURCE), 0
        yield f"{across}.pattern", at.CROSS_PATTERN, (n_heads, 1, _SOURCE), 0
        yield f"{across}.mixed", at.CROSS_MIXED, (n_heads, 1, head), 0
        yield f"{across}.output", at.CROSS_OUT, row, 0
        yield f"{layer}.resid_cross", at.CROSS_SUM, row, 0
    yield f"{layer}.ffn.norm", at.FFN_IN if norms_before else at.POST, row, 0
    yield f"{layer}.ffn.hidden", at.HIDDEN, (1, config.feedforward.width), 0
    yield f"{layer}.ffn.output", at.FFN_OUT, row, 0
    yield f"{layer}.resid_post", at.POST, row, 0
