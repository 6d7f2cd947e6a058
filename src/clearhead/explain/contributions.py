"""A logit as the sum of what every block wrote to the residual stream.

A norm divides all that was written by one number, which the run knows; with that number held, it is linear, and so the
logit is an exact sum: of what the embedding wrote, what each attention and each feed-forward network added, and what
the norms' own biases add. Where norms stand after each sum, each divides what was written before it once more.
"""

import math
from dataclasses import dataclass

import numpy as np

from clearhead.config import HeadKind
from clearhead.errors import TraceError
from clearhead.explain.arithmetic import Book
from clearhead.explain.node import Node, Operation, given, times, total
from clearhead.nn import LayerNorm


@dataclass(frozen=True, kw_only=True)
class Writer:
    """One writer to the residual stream.

    Attributes:
        name: The site that it wrote from, or the parameter.
        vector_D: What is left of it in the last hidden state.
    """

    name: str
    vector_D: np.ndarray


def writers(book: Book, place: int) -> tuple[list[Writer], list[tuple[str, float]]]:
    """What every writer left in the last hidden state of a position, and what each norm on the way divided by."""
    anatomy = book.anatomy
    assert anatomy is not None
    stack = anatomy.output_stack
    config = anatomy.stacks[stack]
    found = [_written(book, site, place) for site in anatomy.embedding_sites(stack)]
    scales: list[tuple[str, float]] = []
    if config.embedding.norm:
        found = _through(book, f"{stack}.embedding.norm", found, scales)
    for layer in range(config.n_layers):
        for part in anatomy.parts(stack):
            found.append(_written(book, f"{stack}.{layer}.{part}.output", place))
            if not anatomy.norm_before(stack):
                found = _through(book, f"{stack}.blocks.{layer}.{part}_norm", found, scales)
    if config.norm.final:
        found = _through(book, f"{stack}.final_norm", found, scales)
    return found, scales


def open_logit(book: Book, place: int, output: int) -> Node:
    """A logit, opened into what every writer gave to it, the norms' scales held.

    Args:
        book: The run.
        place: The position, among those that have logits.
        output: The piece of the vocabulary.

    Raises:
        TraceError: A head that bends between the stream and the logits, or a run that recorded too little.
    """
    anatomy = book.anatomy
    if anatomy is None or anatomy.config.head.kind is not HeadKind.LANGUAGE_MODEL:
        raise TraceError(
            "only a language model's logits are a sum over the residual stream",
            got="a head that bends, or none",
            expected="a decoder with a language-model head",
            advice='why("logits", …) without by="block" opens it as far as the head',
        )
    edited = [site for site, record in book.trace.sites.items() if record.edited and _carries(site)]
    if edited:
        raise TraceError(
            "the stream of this run was edited, so that the logit is no sum of what was written",
            got=", ".join(edited[:5]),
            expected="a run whose residual stream is as the model left it",
        )
    logit = book.at("logits", 0, place, output)
    last = anatomy.last(anatomy.output_stack)
    found, scales = writers(book, book.place(last, "logits", place, letter="T"))
    head = book.part("head")
    table = f"{anatomy.output_stack}.embedding.token" if head.tied is not None else "head.untied"
    width = len(found[0].vector_D)
    weights = [book.weight(f"{table}.weight", output, d) for d in range(width)]
    terms = [_term(writer, weights, head.scale) for writer in found]
    if head.bias is not None:
        terms.append(book.weight("head.bias", output))
    divided = "; ".join(f"{name} divides by {scale:.5g}" for name, scale in scales)
    return Node(
        name=logit.name,
        value=logit.value,
        operation=Operation.SUM,
        formula=f"what each writer gave, the norms' scales held: {divided}",
        address=logit.address,
        line=logit.line,
        opens=lambda: tuple(terms),
    )


def _carries(site: str) -> bool:
    """Whether a site is the stream itself, or a norm that it passes."""
    leaf = site.rsplit(".", maxsplit=1)[-1]
    return leaf.startswith("resid_") or leaf in ("norm", "final_norm", "logits")


def _term(writer: Writer, weights: list[Node], scale: float) -> Node:
    products = [
        times(f"{writer.name}[D={d}] · weight", given(f"{writer.name}[D={d}], normalised", float(x)), weight)
        for d, (x, weight) in enumerate(zip(writer.vector_D * scale, weights, strict=True))
    ]
    return total(writer.name, products, formula="its share of the last hidden state · weight")


def _written(book: Book, site: str, place: int) -> Writer:
    return Writer(name=site, vector_D=book.array(site)[0, place].astype(np.float64))


def _through(book: Book, path: str, found: list[Writer], scales: list[tuple[str, float]]) -> list[Writer]:
    """What a norm leaves of each writer, and what it writes itself."""
    module = book.part(path)
    weight_D = module.weight.detach().numpy().astype(np.float64)
    stream_D: np.ndarray = np.stack([writer.vector_D for writer in found]).sum(0)
    centred = isinstance(module, LayerNorm)
    spread = float(np.var(stream_D)) if centred else float(stream_D @ stream_D) / len(stream_D)
    scale = math.sqrt(spread + module.epsilon)
    scales.append((path, scale))
    kept = [
        Writer(
            name=writer.name,
            vector_D=(writer.vector_D - (writer.vector_D.mean() if centred else 0.0)) / scale * weight_D,
        )
        for writer in found
    ]
    if centred:
        kept.append(Writer(name=f"{path}.bias", vector_D=module.bias.detach().numpy().astype(np.float64)))
    return kept
