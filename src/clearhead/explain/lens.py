"""The logit lens: what the head would have said after each layer (nostalgebraist 2020)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.explain.arithmetic import Book
from clearhead.figures import Figure, word_table
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, SequenceClassificationHead

_MOST_POSITIONS = 24


@dataclass(frozen=True, kw_only=True)
class Lens:
    """What the head would have said, layer by layer.

    Attributes:
        layers: The sites that were read.
        positions: The tokens whose vectors were read.
        words: The likeliest output, by layer and position.
        shares: Its probability.
        probabilities: Of every output, by layer and position.
    """

    layers: tuple[str, ...]
    positions: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    probabilities: np.ndarray

    def figure(self) -> Figure:
        """A picture of it: a row for each layer, the last above; the last positions of a long text."""
        first = max(0, len(self.positions) - _MOST_POSITIONS)
        return word_table(
            [row[first:] for row in reversed(self.words)],
            self.shares[::-1, first:],
            rows=[*reversed(self.layers)],
            columns=self.positions[first:],
            title="what the head would have said after each layer",
        )


def lens(book: Book) -> Lens:
    """Reads the stream after each layer through the last norm and the head.

    Raises:
        TraceError: A model whose head gives no probabilities, or a run that recorded no `resid_post`.
    """
    anatomy, network = book.anatomy, book.network
    if anatomy is None or not isinstance(network, EncoderOnly | DecoderOnly | EncoderDecoder) or network.head is None:
        raise TraceError("this model has no head to look through", expected="a Transformer with a head")
    stack = anatomy.output_stack
    layers = tuple(f"{stack}.{layer}.resid_post" for layer in range(anatomy.stacks[stack].n_layers))
    read = _reader(network, stack)
    found = [read(torch.tensor(book.array(site))) for site in layers]
    if found[0].dim() == 2:  # one answer a text
        found = [logits.unsqueeze(1) for logits in found]
        positions: tuple[str, ...] = ("the text",)
    else:
        tokens = book.trace.tokens(layers[0], "S" if stack == "encoder" else "T")
        assert tokens is not None
        positions = tuple(token.shown for token in tokens)
    shares = torch.cat(found).softmax(-1).numpy()
    best = shares.argmax(-1)
    return Lens(
        layers=layers,
        positions=positions,
        words=tuple(tuple(book.output_name(int(v)).replace("▁", " ").replace("Ġ", " ") for v in row) for row in best),
        shares=shares.max(-1),
        probabilities=shares,
    )


def _reader(network: EncoderOnly | DecoderOnly | EncoderDecoder, stack: str) -> Callable[[Tensor], Tensor]:
    tower = network.encoder if isinstance(network, EncoderOnly) else network.decoder
    assert tower.name == stack
    norm, head = tower.final_norm, network.head
    assert head is not None
    if not (hasattr(head, "untied") or hasattr(head, "vocabulary") or hasattr(head, "classifier")):
        raise TraceError("this model's head gives vectors, and no probabilities", expected="a head with logits")

    @torch.no_grad()
    def read(hidden_BTD: Tensor) -> Tensor:
        hidden_BTD = hidden_BTD if norm is None else norm(hidden_BTD)
        return head(hidden_BTD, None) if isinstance(head, SequenceClassificationHead) else head(hidden_BTD)

    return read
