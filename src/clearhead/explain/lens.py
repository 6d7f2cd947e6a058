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
        words: The likeliest output, or the one that was asked for, by layer and position.
        shares: Its probability.
    """

    layers: tuple[str, ...]
    positions: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    shares: np.ndarray

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


def lens(book: Book, *, output: int | None = None) -> Lens:
    """Reads the stream after each layer through the last norm and the head.

    Args:
        book: The run.
        output: The one output to follow; by default the likeliest of each place.

    Raises:
        TraceError: A model whose head gives no probabilities, or a run that recorded no `resid_post`.
    """
    anatomy, network = book.anatomy, book.network
    if anatomy is None or not isinstance(network, EncoderOnly | DecoderOnly | EncoderDecoder) or network.head is None:
        raise TraceError("this model has no head to look through", expected="a Transformer with a head")
    stack = anatomy.output_stack
    layers = tuple(f"{stack}.{layer}.resid_post" for layer in range(anatomy.stacks[stack].n_layers))
    read = _reader(network, stack)
    best: list[np.ndarray] = []
    shares: list[np.ndarray] = []
    for site in layers:  # one after the other: all vocabularies of all layers at once would fill the memory
        logits_TV = read(torch.tensor(book.trace[site]))[0]
        likelihoods_TV = (logits_TV if logits_TV.dim() == 2 else logits_TV.unsqueeze(0)).softmax(-1)
        share_T, best_T = likelihoods_TV.max(-1)
        if output is not None:
            known_output(output, likelihoods_TV.shape[-1])
            share_T, best_T = likelihoods_TV[:, output], torch.full_like(best_T, output)
        best.append(best_T.numpy())
        shares.append(share_T.numpy())
    tokens = book.trace.tokens(layers[0], "S" if stack == "encoder" else "T")
    assert tokens is not None
    one_answer = len(shares[0]) != len(tokens)
    return Lens(
        layers=layers,
        positions=("the text",) if one_answer else tuple(token.shown for token in tokens),
        words=tuple(tuple(book.output_name(int(v)).replace("▁", " ").replace("Ġ", " ") for v in row) for row in best),
        shares=np.stack(shares),
    )


def known_output(output: int, n_outputs: int) -> None:
    """Raises if the head has no such output."""
    if not 0 <= output < n_outputs:
        raise TraceError("an output that is not there", got=f"V={output}", expected=f"0 to {n_outputs - 1}")


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
