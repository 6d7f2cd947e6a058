"""A run: a trace, and the model that made it, so that it can be asked why."""

import operator
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.errors import TraceError
from clearhead.explain.arithmetic import Book
from clearhead.explain.arithmetic.book import Networks
from clearhead.explain.beams import beam_tree
from clearhead.explain.contributions import open_logit
from clearhead.explain.heads import HeadSummary, summaries
from clearhead.explain.lens import Lens, lens
from clearhead.explain.node import Node
from clearhead.explain.outputs import output_index
from clearhead.explain.probabilities import beam_score, log_probability, loss
from clearhead.figures import Figure, alignment, bars, heatmap
from clearhead.text import Tokenizer
from clearhead.trace import Trace, fingerprint, read_alone, save_trace
from clearhead.trace.record import described

SPECIAL = ("loss", "score", "log_probability")
"""What can be asked about beside the sites: the mean loss, what a search ranked its text by, one token's log p."""


def known_head(site: str, head: int, n_heads: int) -> int:
    """The number of a head, counted from 0.

    Raises:
        TraceError: There is no such head.
    """
    if not -n_heads <= head < n_heads:
        raise TraceError("a head that is not there", got=f"{site}, head {head}", expected=f"0 to {n_heads - 1}")
    return head % n_heads


def _whole(letter: str, place: Any) -> int:
    try:
        return operator.index(place)
    except TypeError:
        raise TraceError("a place is a whole number or a token", got=f"{letter}={place!r}") from None


class Run:
    """What a model computed, and why.

    `run["decoder.5.self.pattern"]` is an array with the axes B H Q K.

    Args:
        trace: What was recorded.
        network: The network that ran.
        tokenizer: What turned text into its ids; None where there is none.
        text: What the run wrote; empty where it only read.
        exact: Whether it ran with the network's weights as they are, and not with others of fewer bits.
    """

    def __init__(
        self,
        *,
        trace: Trace,
        network: Networks,
        tokenizer: Tokenizer | None = None,
        text: str = "",
        exact: bool = True,
    ) -> None:
        config = described(network.config)
        made_here = trace.config is config or dict(trace.config) == config
        if not made_here or (trace.weights and trace.weights != fingerprint(network)):
            raise TraceError(
                "a trace of another model" if not made_here else "a trace of this model with other weights",
                got=trace.model or "a trace",
                expected="the model that made the trace, as it was then",
            )
        self.trace = trace
        self.network = network
        self.tokenizer = tokenizer
        self.text = text
        self._exact = exact
        self.book = Book(trace=trace, network=network, piece_of=self._piece_of())

    def __getitem__(self, site: str) -> np.ndarray:
        return self.trace[site]

    def __contains__(self, site: object) -> bool:
        return site in self.trace

    def __iter__(self) -> Any:
        return iter(self.trace)

    def __len__(self) -> int:
        return len(self.trace)

    def __repr__(self) -> str:
        return repr(self.trace).replace("<trace", "<run")

    def why(self, site: str, *, by: str = "operation", **index: int | str) -> Node:
        """The arithmetic of one number, opened one level at a time.

        Args:
            site: A site, or one of `SPECIAL`.
            by: "operation", or "block" to open a logit into what every block wrote to the residual stream.
            **index: A place along each axis, by its letter: a number, from the end where it is negative, or the token
                that stands there. `B` may be left out, and so may every axis with a single place.

        Raises:
            TraceError: No such site or place, or a token that stands there twice.
        """
        self._check_exact()
        if site == "loss":
            return loss(self.book)
        if site == "score":
            return beam_score(self.book)
        if site == "log_probability":
            *_, place, output = (0, *self.index_of("logits", index)[1:])
            return log_probability(self.book, place, output)
        places = self.index_of(site, index)
        if by == "operation":
            return self.book.at(site, *places)
        if by != "block" or site != "logits":
            raise TraceError("a number is opened by operation, or a logit by block", got=f"{site} by {by}")
        return open_logit(self.book, places[1], places[2])

    def index_of(self, site: str, index: dict[str, int | str]) -> tuple[int, ...]:
        """The place that letters and their values name.

        Raises:
            TraceError: A letter that the site does not have, or one that is missing, or a place that is not there.
        """
        record = self.trace.record(site)
        odd = [letter for letter in index if letter not in record.axes]
        if odd:
            raise TraceError(f"{site} has no axis {odd[0]}", got=odd[0], expected=" ".join(record.axes))
        places: list[int] = []
        for letter, length in zip(record.axes, record.shape, strict=True):
            value = index.get(letter, 0 if length == 1 or letter == "B" else None)
            if value is None:
                missing = f"{letter}=0 to {letter}={length - 1}"
                raise TraceError(f"which place along {letter}?", got=f"{site}, no {letter}", expected=missing)
            place = self._place(site, letter, value) if isinstance(value, str) else _whole(letter, value)
            if not -length <= place < length:
                raise TraceError(
                    f"{site} has no such place", got=f"{letter}={place}", expected=f"{letter} from 0 to {length - 1}"
                )
            places.append(place % length)
        return tuple(places)

    def heatmap(self, site: str, *, head: int | None = None, title: str | None = None) -> Figure:
        """A picture of a site's values: a panel for each head, words on the axes that have any.

        Args:
            site: A site with two axes beside batch and heads, such as a pattern.
            head: The only head to draw; all by default.
            title: What the picture is called; the site's name by default.
        """
        record = self.trace.record(site)
        values = self.trace[site][0]
        letters = record.axes[1:]
        titles = None
        if len(letters) == 3:
            if head is not None:
                place = known_head(site, head, len(values))
                values, titles = values[place : place + 1], [f"head {place}"]
            letters = letters[1:]
        elif len(letters) == 1:
            values, letters = values[None], f"B{letters}"
        return heatmap(
            values,
            rows=self.trace.labels(site, letters[0]),
            columns=self.trace.labels(site, letters[1]),
            titles=titles,
            title=site if title is None else title,
            axes=letters,
            holes=True,
        )

    def alignment(self, site: str, *, head: int | None = None) -> Figure:
        """A picture of a pattern as lines between words; the mean of all heads, or one of them."""
        record = self.trace.record(site)
        if record.axes != "BHQK":
            raise TraceError("only a pattern aligns words", got=f"{site} with axes {record.axes}", expected="B H Q K")
        pattern_HQK = self.trace[site][0]
        table = pattern_HQK.mean(0) if head is None else pattern_HQK[known_head(site, head, len(pattern_HQK))]
        title = f"{site}, " + ("mean of heads" if head is None else f"head {head}")
        rows, columns = self.trace.labels(site, "Q"), self.trace.labels(site, "K")
        return alignment(table, above=columns, below=rows, title=title)

    def contributions(self, **index: int | str) -> Figure:
        """A picture of what every block gave to one logit."""
        node = self.why("logits", by="block", **index)
        terms = node.children
        return bars([term.value for term in terms], names=[term.name for term in terms], title=node.name)

    def lens(self, *, V: int | str | None = None) -> Lens:
        """What the head would have said after each layer; or how likely it found one output."""
        self._check_exact()
        output = self._place("logits", "V", V) if isinstance(V, str) else V
        return lens(self.book, output=output)

    def heads(self) -> list[HeadSummary]:
        """What each head of the recorded patterns does, in a few numbers."""
        return summaries({site: self.trace[site] for site in self.trace if site.endswith(".pattern")})

    def beams(self) -> Figure:
        """A picture of the beam search: every way that it followed, also those that died."""
        return beam_tree(self.trace, self._piece_of())

    def save(self, path: Path | str) -> Path:
        """Writes the trace to a .safetensors file."""
        return save_trace(replace(self.trace, weights=fingerprint(self.network)), path)

    def _check_exact(self) -> None:
        if not self._exact:
            raise TraceError(
                "the arithmetic of weights in 8 bits is not opened", got="weights='int8'", expected="weights='float32'"
            )

    def _piece_of(self) -> Callable[[int], str]:
        if self.tokenizer is None:
            return lambda index: f"#{index}"
        names = self.tokenizer.target
        return lambda index: read_alone(index, names)

    def _place(self, site: str, letter: str, word: str) -> int:
        """The place of a token along an axis."""
        if letter == "V":
            labels = getattr(getattr(self.network.config, "head", None), "labels", ())
            return output_index(word, labels=labels, tokenizer=self.tokenizer)
        tokens = self.trace.tokens(site, letter)
        if tokens is None:
            raise TraceError(f"no tokens stand along {letter}", got=f"{letter}={word!r}", expected="a number")
        found = [place for place, token in enumerate(tokens) if word in (token.piece, token.shown)]
        if len(found) != 1:
            problem = "a token that stands there more than once" if found else "a token that does not stand there"
            shown = " ".join(f"{place}:{token.shown}" for place, token in enumerate(tokens))
            raise TraceError(problem, got=f"{letter}={word!r}", expected=f"one of {shown}"[:300], advice="its number")
        return found[0]
