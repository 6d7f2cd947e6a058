"""Step by step, until every row has ended."""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.decoding.choose import choose
from clearhead.decoding.row import Event, Row


@runtime_checkable
class Stepper(Protocol):
    """What decoding knows of a model."""

    def start(self) -> Float[Tensor, "B V"]:
        """The logits of the next id after every prompt."""
        ...

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits of the next id, after one more id for every row."""
        ...

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Goes on with these rows, in this order; a row may be taken several times."""
        ...


def decode(stepper: Stepper, rows: Sequence[Row]) -> Iterator[list[Event]]:
    """Decodes rows together; gives the events of each step. Rows that have ended leave the batch.

    Args:
        stepper: The model, with one prompt for each row.
        rows: The rows; cancelling one ends it before its next step.
    """
    live = list(rows)
    started = False
    while True:
        open_rows = [place for place, row in enumerate(live) if row.finish is None]
        if not open_rows:
            return
        if len(open_rows) < len(live):
            stepper.select(torch.tensor(open_rows))
            live = [live[place] for place in open_rows]
        logits_BV = stepper.step(torch.tensor([row.ids[-1] for row in live])) if started else stepper.start()
        started = True
        chosen = choose(logits_BV, live)
        yield [row.accept(index, score) for row, (index, score) in zip(live, chosen, strict=True)]
