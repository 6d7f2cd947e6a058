"""What an encoder makes of texts that it did not learn from: a label, or a word in the place of a hidden one."""

from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.data import Prepared
from clearhead.models import EncoderOnly
from clearhead.text import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One output: what was read, what was written, and what was expected, where that is known."""

    source: str
    output: str
    expected: str | None = None


def labelled(network: EncoderOnly, prepared: Prepared, tokenizer: Tokenizer, *, n: int) -> list[Sample]:
    """The labels of the first texts that are measured by."""
    store = prepared.validation
    expected = store.values("label")
    found: list[Sample] = []
    for row in range(min(n, len(store))):
        ids = [int(index) for index in store.ids("text", row)]
        best = int(_logits(network, ids)[0].argmax())
        found.append(
            Sample(
                source=tokenizer.decode(ids),
                output=prepared.labels[best],
                expected=prepared.labels[int(expected[row])],
            )
        )
    return found


def filled(network: EncoderOnly, prepared: Prepared, tokenizer: Tokenizer, *, n: int) -> list[Sample]:
    """The words that are put in the middle of the first texts, where that word is hidden."""
    store, mask = prepared.validation, tokenizer.special.mask
    assert mask is not None
    found: list[Sample] = []
    for row in range(min(n, len(store))):
        ids = [int(index) for index in store.ids("text", row)]
        place = len(ids) // 2
        hidden = [*ids[:place], mask, *ids[place + 1 :]]
        best = int(_logits(network, hidden)[0, place].argmax())
        before, after = tokenizer.decode(hidden[:place]), tokenizer.decode(hidden[place + 1 :])
        found.append(
            Sample(
                source=f"{before} {tokenizer.piece_of(mask)} {after}".strip(),
                output=tokenizer.piece_of(best),
                expected=tokenizer.piece_of(ids[place]),
            )
        )
    return found


@torch.no_grad()
def _logits(network: EncoderOnly, ids: list[int]) -> Tensor:
    device = next(network.parameters()).device
    logits = network(torch.tensor([ids], device=device)).logits
    assert logits is not None
    return logits
