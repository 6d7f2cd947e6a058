"""What is read off the last hidden state, opened: logits, pooled vectors, sentences."""

from typing import TYPE_CHECKING

from clearhead.config import HeadKind, Pooling
from clearhead.explain.arithmetic.linear import bent, linear, linear_terms
from clearhead.explain.arithmetic.norms import mean, norm_operation, norm_terms, squared
from clearhead.explain.arithmetic.origins import Origin
from clearhead.explain.node import Node, Operation, given, made, times, total

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book

Index = tuple[int, ...]


def open_logits(book: "Book", site: str, index: Index) -> Origin:
    """A logit: the last hidden state against one row of the output layer."""
    assert book.anatomy is not None
    head = book.anatomy.config.head
    match head.kind:
        case HeadKind.LANGUAGE_MODEL:
            return _vocabulary(book, "head", book.anatomy.last(book.anatomy.output_stack), site, index)
        case HeadKind.MASKED_LANGUAGE_MODEL:
            return _vocabulary(book, "head.vocabulary", "transform", site, index)
        case HeadKind.SEQUENCE_CLASSIFICATION:
            batch, row = index
            return _linear_head(book, "pooled", (batch,), row)
        case _:
            batch, place, row = index
            return _linear_head(book, book.anatomy.last("encoder"), (batch, place), row)


def _linear_head(book: "Book", reads: str, where: Index, row: int) -> Origin:
    def opens() -> tuple[Node, ...]:
        x = [book.at(reads, *where, d) for d in range(book.array(reads).shape[-1])]
        return linear_terms(book, x, "head.classifier", row)

    return Origin(operation=Operation.SUM, opens=opens)


def _vocabulary(book: "Book", path: str, reads: str, site: str, index: Index) -> Origin:
    batch, place, row = index
    module = book.part(path)
    assert book.anatomy is not None
    table = f"{book.anatomy.output_stack}.embedding.token" if module.tied is not None else f"{path}.untied"

    def opens() -> tuple[Node, ...]:
        letter = "S" if "S" in book.trace.record(reads).axes else "T"
        there = book.place(reads, site, place, letter=letter)
        x = [book.at(reads, batch, there, d) for d in range(book.array(reads).shape[-1])]
        terms = [times(f"{one.name} · weight", one, book.weight(f"{table}.weight", row, d)) for d, one in enumerate(x)]
        if module.scale != 1.0:
            terms = [times("(hidden · weight) · scale", total("hidden · weight", terms), given("scale", module.scale))]
        if module.bias is not None:
            terms.append(book.weight(f"{path}.bias", row))
        return tuple(terms)

    return Origin(operation=Operation.SUM, opens=opens)


def open_transform(book: "Book", site: str, index: Index) -> Origin:
    """The hidden layer before the logits of a masked word."""
    del site
    batch, place, d = index
    assert book.anatomy is not None
    head, reads = book.anatomy.config.head, book.anatomy.last("encoder")

    def opens() -> tuple[Node, ...]:
        x = [book.at(reads, batch, place, channel) for channel in range(book.array(reads).shape[-1])]
        units = [
            bent(head.activation, linear(book, lambda: x, "head.transform", row, name=f"hidden · W[{row}]"))
            for row in range(len(x))
        ]
        return norm_terms(book, units, "head.norm", d)

    return Origin(operation=norm_operation(book, "head.norm"), opens=opens)


def open_pooled(book: "Book", site: str, index: Index) -> Origin:
    """A number of the vector that is read off the first token."""
    del site
    batch, row = index
    assert book.anatomy is not None
    reads = book.anatomy.last("encoder")
    classifies = book.anatomy.config.head.kind is HeadKind.SEQUENCE_CLASSIFICATION
    path = "head.pooler" if classifies else "pooler"
    activation = book.anatomy.config.head.activation.value if classifies else "tanh"

    def opens() -> tuple[Node, ...]:
        x = [book.at(reads, batch, 0, d) for d in range(book.array(reads).shape[-1])]
        return (linear(book, lambda: x, f"{path}.dense", row, name="first token · W"),)

    return Origin(operation=Operation(activation), opens=opens)


def open_vector(book: "Book", site: str, index: Index) -> Origin:
    """A number of a sentence's vector: pooled over its tokens, and divided by the length of the whole."""
    batch, d = index
    assert book.anatomy is not None
    reads, head = book.anatomy.last("encoder"), book.anatomy.config.head

    def pooled(channel: int) -> Node:
        last = book.array(reads).shape[1] - 1
        places = {Pooling.FIRST: [0], Pooling.LAST: [last]}.get(head.pooling, list(range(last + 1)))
        x = [book.at(reads, batch, place, channel) for place in places]
        if head.pooling is Pooling.MAX:
            return made(Operation.MAX, f"greatest[D={channel}]", x)
        return mean(f"{head.pooling}[D={channel}]", x)

    def opens() -> tuple[Node, ...]:
        if not head.normalised:
            return (pooled(d),)
        every = [pooled(channel) for channel in range(book.array(site).shape[-1])]
        length = made(Operation.SQRT, "length", (total("Σ squares", [squared(one) for one in every]),))
        return (every[d], length)

    return Origin(operation=Operation.QUOTIENT if head.normalised else Operation.SAME, opens=opens)
