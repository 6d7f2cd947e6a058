"""Embeddings, the residual stream, norms and feed-forward networks, opened."""

from typing import TYPE_CHECKING

from clearhead.config import PositionKind
from clearhead.explain.arithmetic.linear import bent, linear, linear_terms
from clearhead.explain.arithmetic.norms import norm_operation, norm_terms
from clearhead.explain.arithmetic.origins import Origin
from clearhead.explain.node import Node, Operation, given, over, total

if TYPE_CHECKING:
    from clearhead.explain.arithmetic.book import Book

Index = tuple[int, ...]


def open_embedding(book: "Book", site: str, index: Index) -> Origin:
    """A number of the embedding: a row of a table, or a wave."""
    batch, place, d = index
    assert book.anatomy is not None
    name, leaf = site.rsplit(".", 1)
    stack = next(one for one in book.anatomy.stacks if book.anatomy.embed_name(one) == name)
    path = f"{stack}.embedding"
    if leaf == "norm":
        return _norm(book, book.anatomy.embedding_sites(stack), f"{path}.norm", index)
    if leaf == "token":
        tokens = book.trace.tokens(site, book.trace.record(site).axes[1])
        assert tokens is not None
        weight = book.weight(f"{path}.token.weight", tokens[place].id, d)
        scale = book.part(f"{path}.token").scale
        return Origin(operation=Operation.PRODUCT, opens=lambda: (weight, given("scale", scale)))
    if leaf == "segment":
        table = book.part(f"{path}.segment.weight")
        row = next(r for r in range(len(table)) if (table[r].detach().numpy() == book.array(site)[batch, place]).all())
        return Origin(operation=Operation.SAME, opens=lambda: (book.weight(f"{path}.segment.weight", row, d),))
    if book.anatomy.stacks[stack].position.kind is PositionKind.LEARNED:
        return Origin(operation=Operation.SAME, opens=lambda: (book.weight(f"{path}.position.weight", place, d),))
    return _wave(book, stack, place, d)


def _wave(book: "Book", stack: str, place: int, d: int) -> Origin:
    module = book.part(f"{stack}.embedding.position")
    half = module.width // 2
    pair, cosine = (d % half, d >= half) if module.halves else (d // 2, d % 2 == 1)
    angle = over(
        "place / wavelength",
        given("place", place),
        given("wavelength", module.theta ** (2 * pair / module.width), formula="θ^(2i/D)"),
    )
    return Origin(operation=Operation.COS if cosine else Operation.SIN, opens=lambda: (angle,))


def open_stream(book: "Book", site: str, index: Index) -> Origin:
    """The residual stream: what stood there, and what was added."""
    assert book.anatomy is not None
    made = book.anatomy.made(site)
    assert made is not None
    operation = Operation.SUM if len(made.inputs) > 1 else Operation.SAME
    return Origin(operation=operation, opens=lambda: tuple(book.at(name, *index) for name in made.inputs))


def open_norm(book: "Book", site: str, index: Index) -> Origin:
    """A normalised number."""
    assert book.anatomy is not None
    made = book.anatomy.made(site)
    assert made is not None
    return _norm(book, made.inputs, made.parameters[0].removesuffix(".weight"), index)


def _norm(book: "Book", inputs: tuple[str, ...], path: str, index: Index) -> Origin:
    batch, place, d = index

    def opens() -> tuple[Node, ...]:
        x: list[Node] = []
        for channel in range(book.array(inputs[0]).shape[-1]):
            parts = [book.at(name, batch, place, channel) for name in inputs]
            x.append(parts[0] if len(parts) == 1 else total(f"x[D={channel}]", parts))
        return norm_terms(book, x, path, d)

    return Origin(operation=norm_operation(book, path), opens=opens)


def open_hidden(book: "Book", site: str, index: Index) -> Origin:
    """A unit of the feed-forward network: a bend, or a bend times what it lets through."""
    batch, place, unit = index
    assert book.anatomy is not None
    stack, layer = site.split(".")[:2]
    reads = book.anatomy.read_by(stack, int(layer), "ffn")
    path, config = f"{stack}.blocks.{layer}.ffn", book.stack(stack).feedforward

    def x() -> list[Node]:
        return [book.at(reads, batch, place, d) for d in range(book.array(reads).shape[-1])]

    def opens() -> tuple[Node, ...]:
        up = linear(book, x, f"{path}.up", unit, name="x · up")
        if not config.gated:
            return (up,)
        gate = linear(book, x, f"{path}.gate", unit, name="x · gate")
        return (bent(config.activation, gate), up)

    operation = Operation.PRODUCT if config.gated else Operation(config.activation.value)
    return Origin(operation=operation, opens=opens)


def open_contracted(book: "Book", site: str, index: Index) -> Origin:
    """What the feed-forward network adds to the stream."""
    batch, place, row = index
    stack, layer = site.split(".")[:2]
    hidden = f"{stack}.{layer}.ffn.hidden"

    def opens() -> tuple[Node, ...]:
        x = [book.at(hidden, batch, place, f) for f in range(book.array(hidden).shape[-1])]
        return linear_terms(book, x, f"{stack}.blocks.{layer}.ffn.down", row)

    return Origin(operation=Operation.SUM, opens=opens)
