"""Everything that can be looked up: recorded values, parameters, and how each site opens."""

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from torch import Tensor

from clearhead.config import ModelConfig, StackConfig
from clearhead.errors import TraceError
from clearhead.explain.arithmetic.origins import Origin
from clearhead.explain.arithmetic.sites import origin_of
from clearhead.explain.node import Address, Node, Operation
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, Recurrent
from clearhead.trace import Anatomy, Trace

_EDITED = "as an edit left it"

Networks = EncoderOnly | DecoderOnly | EncoderDecoder | Recurrent


class Book:
    """A trace and the network that made it, as the arithmetic of one number needs them.

    Args:
        trace: What the run recorded.
        network: The network that ran, with the weights that it ran with.
        piece_of: What an id of the output vocabulary is called; by default its number.
    """

    def __init__(
        self, *, trace: Trace, network: Networks, piece_of: Callable[[int], str] = lambda index: f"#{index}"
    ) -> None:
        self.trace = trace
        self.network = network
        self.piece_of = piece_of
        config = network.config
        self.anatomy = Anatomy(config=config) if isinstance(config, ModelConfig) else None
        self._arrays: dict[str, np.ndarray] = {}

    def stack(self, name: str) -> StackConfig:
        """The configuration of a stack."""
        assert self.anatomy is not None
        return self.anatomy.stacks[name]

    def array(self, site: str) -> np.ndarray:
        """The recorded values of a site.

        Raises:
            TraceError: It was not recorded.
        """
        if site not in self._arrays:
            self._arrays[site] = self.trace[site]
        return self._arrays[site]

    def part(self, path: str) -> Any:
        """A part of the network by its path."""
        return reduce(_step, path.split("."), self.network)

    def weight(self, path: str, *index: int) -> Node:
        """One number of a parameter."""
        if path not in self._arrays:
            values: Tensor = self.part(path)
            self._arrays[path] = values.detach().cpu().float().numpy()
        address = Address(name=path, index=index)
        return Node(name=str(address), value=float(self._arrays[path][index]), address=address)

    def at(self, site: str, *index: int) -> Node:
        """One recorded number, ready to be opened.

        Raises:
            TraceError: No such site in this trace, or no such place in it.
        """
        values, record = self.array(site), self.trace.record(site)
        if len(index) != values.ndim or any(not 0 <= i < n for i, n in zip(index, values.shape, strict=False)):
            sizes = ", ".join(f"{letter} below {n}" for letter, n in zip(record.axes, values.shape, strict=True))
            raise TraceError(f"{site} has no such place", got=index, expected=sizes)
        address = Address(name=site, index=index, axes=record.axes)
        value = float(values[index])
        if math.isnan(value):
            raise TraceError(
                "a cell that the run never computed", got=address, expected="a key that its step could see"
            )
        origin = Origin(operation=Operation.GIVEN, formula=_EDITED) if record.edited else origin_of(self, site, index)
        return Node(
            name=self._name(address),
            value=value,
            operation=origin.operation,
            formula=origin.formula or record.operation,
            address=address,
            line=record.line,
            opens=origin.opens,
        )

    def place(self, of: str, seen_from: str, index: int, *, letter: str) -> int:
        """Where a position of one site stands along the axis of another that may have more positions before it."""
        here, there = self.trace.record(seen_from), self.trace.record(of)
        own = next(one for one in ("T", "S", "Q") if one in here.axes)
        return index + there.shape[there.axes.index(letter)] - here.shape[here.axes.index(own)]

    def _name(self, address: Address) -> str:
        """The address, with what stands at its positions."""
        words: list[str] = []
        for letter, place in zip(address.axes, address.index, strict=True):
            if letter == "V":
                words.append(repr(self.output_name(place)))
            elif (tokens := self.trace.tokens(address.name, letter)) is not None:
                words.append(repr(tokens[place].shown))
        return f"{address} {' → '.join(words)}".rstrip()

    def output_name(self, index: int) -> str:
        """What an output of the head is called: a label, or a piece of the vocabulary."""
        config = self.network.config
        labels = config.head.labels if isinstance(config, ModelConfig) else ()
        return labels[index] if labels else self.piece_of(index)


def _step(part: Any, name: str) -> Any:
    return part[int(name)] if name.isdigit() else getattr(part, name)
