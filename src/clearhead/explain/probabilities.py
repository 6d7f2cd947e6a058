"""Probabilities, losses and the scores of beams, opened.

log p(v) = logit[v] - log Σ exp(logit)        loss = -mean log p(next)        score = Σ log p / length^penalty
"""

import numpy as np

from clearhead.errors import TraceError
from clearhead.explain.arithmetic import Book
from clearhead.explain.node import Node, Operation, given, made, minus, over, total

_NEAR = 1e-4


def log_probability(book: Book, place: int, output: int) -> Node:
    """The logarithm of the probability of one piece at one position, among those that have logits."""
    logits = book.array("logits")[0]
    per_text = logits.ndim == 1  # a classifier's, one answer a text
    logits_V = (logits if per_text else logits[place]).astype(np.float64)

    def logit(index: int) -> Node:
        return book.at("logits", 0, index) if per_text else book.at("logits", 0, place, index)

    top = float(logits_V.max())
    normaliser = top + float(np.log(np.exp(logits_V - top).sum()))

    def every() -> tuple[Node, ...]:
        greatest = given("greatest logit", top)
        powers = [
            made(Operation.EXP, f"exp({node.name} - greatest)", (total("logit - greatest", (node, minus(greatest))),))
            for node in (logit(v) for v in range(len(logits_V)))
        ]
        return (made(Operation.LOG, "log Σ exp(logit - greatest)", (total("Σ exp", powers),)), greatest)

    below = Node(name="log Σ exp(logit)", value=normaliser, operation=Operation.SUM, opens=every)
    return made(
        Operation.SUM,
        f"log p({book.output_name(output)!r})",
        (logit(output), minus(below)),
        formula="logit - log Σ exp(logit)",
    )


def beam_score(book: Book) -> Node:
    """What a search ranked its text by.

    Raises:
        TraceError: The run did not write.
    """
    trace = book.trace
    if not trace.written or not trace.scores:
        raise TraceError("this run wrote nothing", got="a pass over a text", advice="a run that writes has a score")
    terms = [_counted(book, place, token.id) for place, token in enumerate(trace.written)]
    added = total("Σ log p", terms)
    if not trace.beams:
        return added
    n, penalty = given("length", len(terms)), given("length penalty", trace.length_penalty)
    length = made(Operation.POWER, "length ^ penalty", (n, penalty))
    return over("score of the text", added, length, formula="Σ log p / length^penalty")


def _counted(book: Book, place: int, output: int) -> Node:
    """What a token counted for: its log-probability, or what a setting made of it."""
    node, counted = log_probability(book, place, output), book.trace.scores[place]
    if abs(node.value - counted) <= _NEAR * max(1.0, abs(counted)):
        return node
    return given(f"{node.name}, forced or penalised by a setting", counted)


def loss(book: Book) -> Node:
    """The mean loss of a run: of each token that came, given those before it.

    Raises:
        TraceError: Nothing came after anything.
    """
    trace = book.trace
    after = (*trace.target, *trace.written[-1:]) if trace.written else trace.target
    if "T" not in trace.record("logits").axes:
        raise TraceError("a model that only reads predicts no next token", got=trace.record("logits").axes)
    positions = trace.record("logits").shape[1]
    first = len(trace.target) - positions
    pairs = [(place, after[first + place + 1]) for place in range(positions) if first + place + 1 < len(after)]
    if not pairs:
        raise TraceError("no token came after another", got=f"{len(trace.target)} tokens", expected="two or more")
    terms = [
        made(Operation.NEGATIVE, f"-log p({token.shown!r})", (log_probability(book, place, token.id),))
        for place, token in pairs
    ]
    return over("loss", total("Σ -log p", terms), given("how many", len(terms)), formula="mean of -log p(next)")
