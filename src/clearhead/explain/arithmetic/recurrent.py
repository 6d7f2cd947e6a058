"""The recurrent network's attention and output, opened; what its cells compute is given, as the library computes it."""

from typing import TYPE_CHECKING

from clearhead.explain.arithmetic.attention import additive_terms, open_pattern
from clearhead.explain.arithmetic.linear import linear_terms
from clearhead.explain.arithmetic.origins import Origin
from clearhead.explain.node import Node, Operation, times
from clearhead.nn.attention.score import AdditiveScorer

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book

Index = tuple[int, ...]


def open_recurrent(book: "Book", site: str, index: Index) -> Origin:
    """A number of a recurrent run."""
    if site == "decoder.cross.pattern":
        return open_pattern(book, site, index)
    if site == "logits":
        batch, place, row = index

        def logit() -> tuple[Node, ...]:
            x = [book.at("decoder.hidden", batch, place, d) for d in range(book.array("decoder.hidden").shape[-1])]
            return linear_terms(book, x, "output", row)

        return Origin(operation=Operation.SUM, opens=logit)
    if site == "decoder.cross.key":
        batch, _, place, row = index

        def key() -> tuple[Node, ...]:
            x = [book.at("encoder.hidden", batch, place, d) for d in range(book.array("encoder.hidden").shape[-1])]
            return linear_terms(book, x, "decoder.key", row)

        return Origin(operation=Operation.SUM, opens=key)
    if site == "decoder.cross.mixed":
        return _mixed(book, index)
    if site == "decoder.cross.score":
        return _score(book, index)
    return Origin(operation=Operation.GIVEN, formula="computed by the recurrent cell, or looked up")


def _mixed(book: "Book", index: Index) -> Origin:
    batch, head, query, channel = index
    shares = book.array("decoder.cross.pattern")[batch, head, query]
    keys = [k for k in range(len(shares)) if shares[k] != 0] or [0]

    def opens() -> tuple[Node, ...]:
        return tuple(
            times(
                f"pattern[K={k}] · encoder.hidden[S={k}]",
                book.at("decoder.cross.pattern", batch, head, query, k),
                book.at("encoder.hidden", batch, k, channel),
            )
            for k in keys
        )

    return Origin(operation=Operation.SUM, opens=opens)


def _score(book: "Book", index: Index) -> Origin:
    batch, head, query, key = index
    additive = isinstance(book.part("decoder.scorer"), AdditiveScorer)

    def opens() -> tuple[Node, ...]:
        width = book.array("decoder.cross.query").shape[-1]
        pairs = [
            (book.at("decoder.cross.query", batch, head, query, c), book.at("decoder.cross.key", batch, head, key, c))
            for c in range(width)
        ]
        if additive:
            return additive_terms(book, pairs, "decoder.scorer.weight", head)
        return tuple(times(f"query[C={c}] · key[C={c}]", *pair) for c, pair in enumerate(pairs))

    return Origin(operation=Operation.SUM, opens=opens)
