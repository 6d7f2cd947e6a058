"""Which way each kind of site opens."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from clearhead.explain.arithmetic import attention, blocks, heads
from clearhead.explain.arithmetic.origins import Origin
from clearhead.explain.arithmetic.recurrent import open_recurrent
from clearhead.explain.node import Operation

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book

Opening = Callable[["Book", str, tuple[int, ...]], Origin]

_ATTENTION: Mapping[str, Opening] = {
    "query": attention.open_query,
    "key": attention.open_query,
    "value": attention.open_query,
    "rotated_query": attention.open_rotated,
    "rotated_key": attention.open_rotated,
    "score": attention.open_score,
    "pattern": attention.open_pattern,
    "mixed": attention.open_mixed,
    "output": attention.open_output,
    "norm": blocks.open_norm,
}
_FEEDFORWARD: Mapping[str, Opening] = {
    "norm": blocks.open_norm,
    "hidden": blocks.open_hidden,
    "output": blocks.open_contracted,
}
_HEADS: Mapping[str, Opening] = {
    "logits": heads.open_logits,
    "transform": heads.open_transform,
    "pooled": heads.open_pooled,
    "vector": heads.open_vector,
}


def origin_of(book: "Book", site: str, index: tuple[int, ...]) -> Origin:
    """How the number at a place of a site came to be."""
    if book.anatomy is None:
        return open_recurrent(book, site, index)
    parts = site.split(".")
    leaf = parts[-1]
    opening: Opening | None = None
    if len(parts) == 1:
        opening = _HEADS.get(leaf)
    elif parts[-2] == "embed":
        opening = blocks.open_embedding
    elif parts[-2] in ("self", "cross"):
        opening = _ATTENTION.get(leaf)
    elif parts[-2] == "ffn":
        opening = _FEEDFORWARD.get(leaf)
    elif leaf == "final_norm":
        opening = blocks.open_norm
    elif leaf.startswith("resid_"):
        opening = blocks.open_stream
    return Origin(operation=Operation.GIVEN) if opening is None else opening(book, site, index)
