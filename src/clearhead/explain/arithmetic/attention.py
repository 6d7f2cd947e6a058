"""Attention, opened: scores, patterns, mixtures, and the turning of queries and keys."""

from typing import TYPE_CHECKING

import torch

from clearhead.config import PositionKind, ScorerKind
from clearhead.explain.arithmetic.linear import linear_terms
from clearhead.explain.arithmetic.origins import Origin
from clearhead.explain.node import Node, Operation, given, made, minus, times, total
from clearhead.trace.anatomy import ATTENTION

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book

Index = tuple[int, ...]


def open_query(book: "Book", site: str, index: Index) -> Origin:
    """A query, a key or a value: what was read, through a linear layer."""
    batch, head, place, channel = index
    assert book.anatomy is not None
    stack, layer, part, leaf = site.split(".")
    reads = book.anatomy.read_by(stack, int(layer), part)
    if part == "cross" and leaf != "query":
        reads = book.anatomy.last("encoder")
    path = f"{stack}.blocks.{layer}.{ATTENTION[part]}.{leaf}"
    width = book.array(site).shape[-1]

    def opens() -> tuple[Node, ...]:
        x = [book.at(reads, batch, place, d) for d in range(book.array(reads).shape[-1])]
        return linear_terms(book, x, path, head * width + channel)

    return Origin(operation=Operation.SUM, opens=opens)


def open_rotated(book: "Book", site: str, index: Index) -> Origin:
    """A query or key turned by its place: its own share, and that of its partner."""
    batch, head, place, channel = index
    stack = site.split(".", maxsplit=1)[0]
    plain = site.replace("rotated_", "")
    half = book.array(site).shape[-1] // 2
    partner, sign = (channel + half, -1.0) if channel < half else (channel - half, 1.0)

    def opens() -> tuple[Node, ...]:
        # Scaling may depend on how long the text was when the place was computed: all at once, or step by step.
        whole, begun = book.array(site).shape[-2], book.trace.n_prompt
        length = whole if not begun else max(begun, place + 1)
        rotation = book.part(f"{stack}.rotary")(torch.arange(length).unsqueeze(0), dtype=torch.float32)
        cos = given("cos(place · frequency)", float(rotation.cos[0, 0, place, channel]))
        sin = given("± sin(place · frequency)", sign * float(rotation.sin[0, 0, place, channel]))
        own, other = book.at(plain, batch, head, place, channel), book.at(plain, batch, head, place, partner)
        return (times("own · cos", own, cos), times("partner · sin", other, sin))

    return Origin(operation=Operation.SUM, opens=opens)


def open_score(book: "Book", site: str, index: Index) -> Origin:
    """A score: the products of a query and a key, added up and scaled; with the bias of their distance."""
    batch, head, query, key = index
    stack, layer, part = site.split(".")[:3]
    config = book.stack(stack)
    turned = config.position.kind is PositionKind.ROTARY and part == "self"
    names = [f"{stack}.{layer}.{part}.{'rotated_' if turned else ''}{leaf}" for leaf in ("query", "key")]
    relative = config.position.kind is PositionKind.RELATIVE and part == "self"
    scorer = book.part(f"{stack}.blocks.{layer}.{ATTENTION[part]}.scorer")

    def opens() -> tuple[Node, ...]:
        group = book.array(names[1]).shape[1]
        shared = head // (config.attention.n_heads // group)
        width = book.array(names[0]).shape[-1]
        pairs = [
            (book.at(names[0], batch, head, query, c), book.at(names[1], batch, shared, key, c)) for c in range(width)
        ]
        if config.attention.scorer is ScorerKind.ADDITIVE:
            path = f"{stack}.blocks.{layer}.{ATTENTION[part]}.scorer.weight"
            return additive_terms(book, pairs, path, head)
        dot = total("query · key", [times(f"query[C={c}] · key[C={c}]", *pair) for c, pair in enumerate(pairs)])
        scaled = times("dot · scale", dot, given("scale", scorer.scale))
        if not relative:
            return scaled.children
        bucket = book.part(f"{stack}.relative").bucket(torch.tensor([[key - query]]))
        return (scaled, book.weight(f"{stack}.relative.weight", int(bucket), head))

    plain = Operation.SUM if relative or config.attention.scorer is ScorerKind.ADDITIVE else Operation.PRODUCT
    return Origin(operation=plain, opens=opens)


def additive_terms(book: "Book", pairs: list[tuple[Node, Node]], path: str, head: int) -> tuple[Node, ...]:
    """The terms of an additive score: each unit's bend, weighed."""
    terms: list[Node] = []
    for c, (query, key) in enumerate(pairs):
        bend = made(Operation.TANH, f"tanh(query + key)[C={c}]", (total("query + key", (query, key)),))
        terms.append(times(f"v · tanh[C={c}]", book.weight(path, head, c), bend))
    return tuple(terms)


def open_pattern(book: "Book", site: str, index: Index) -> Origin:
    """A share of attention: the exponential of its score among those of all open keys."""
    batch, head, query, key = index
    scores = site.removesuffix("pattern") + "score"
    pattern = book.array(site)[batch, head, query]
    if pattern[key] == 0:
        return Origin(
            operation=Operation.GIVEN, formula="0: the mask closes this key, or its share is too small to tell"
        )

    def opens() -> tuple[Node, ...]:
        keys = [k for k in range(len(pattern)) if pattern[k] > 0]
        found = {k: book.at(scores, batch, head, query, k) for k in keys}
        top = given("greatest score", max(node.value for node in found.values()))
        powers = {
            k: made(Operation.EXP, f"exp(score[K={k}] - greatest)", (total("score - greatest", (node, minus(top))),))
            for k, node in found.items()
        }
        return (powers[key], total("Σ exp(score - greatest)", list(powers.values())))

    return Origin(operation=Operation.QUOTIENT, opens=opens)


def open_mixed(book: "Book", site: str, index: Index) -> Origin:
    """What a head brings back: the values of all keys, each by its share."""
    batch, head, query, channel = index
    here = site.removesuffix("mixed")

    def opens() -> tuple[Node, ...]:
        values = book.array(f"{here}value")
        shared = head // (book.array(site).shape[1] // values.shape[1])
        shares = book.array(f"{here}pattern")[batch, head, query]
        keys = [k for k in range(len(shares)) if shares[k] != 0] or [0]
        return tuple(
            times(
                f"pattern[K={k}] · value[K={k}]",
                book.at(f"{here}pattern", batch, head, query, k),
                book.at(f"{here}value", batch, shared, k, channel),
            )
            for k in keys
        )

    return Origin(operation=Operation.SUM, opens=opens)


def open_output(book: "Book", site: str, index: Index) -> Origin:
    """What attention adds to the stream: the heads side by side, through a linear layer."""
    batch, place, row = index
    stack, layer, part = site.split(".")[:3]
    mixed = f"{stack}.{layer}.{part}.mixed"

    def opens() -> tuple[Node, ...]:
        _, heads, _, width = book.array(mixed).shape
        x = [book.at(mixed, batch, head, place, c) for head in range(heads) for c in range(width)]
        return linear_terms(book, x, f"{stack}.blocks.{layer}.{ATTENTION[part]}.output", row)

    return Origin(operation=Operation.SUM, opens=opens)
