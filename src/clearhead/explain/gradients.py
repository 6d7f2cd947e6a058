"""One gradient by backpropagation and one step of AdamW, opened.

dloss/dW[i, j] = Σ_t delta[t, i] · x[t, j]         delta[logits] = (p - 1[next]) / how many
m = β1 m + (1 - β1) g        v = β2 v + (1 - β2) g²
W = W - lr · (m / (1 - β1^n) / (sqrt(v / (1 - β2^n)) + ε) + decay · W)        (Loshchilov and Hutter 2019)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clearhead.errors import TraceError, nearest
from clearhead.explain.node import Address, Node, Operation, given, made, minus, over, times, total
from clearhead.explain.numbers import softmax
from clearhead.models import DecoderOnly, EncoderDecoder
from clearhead.probe import listen


class _Keeper:
    """A listener that keeps values with their gradients."""

    def __init__(self) -> None:
        self.kept: dict[str, Tensor] = {}

    def wants(self, site: str) -> bool:
        """Every value."""
        return "@" not in site

    def hear(self, site: str, value: Any) -> Any:
        """Keeps the value itself, so that its gradient arrives here too."""
        if value.requires_grad:
            value.retain_grad()
        self.kept[site] = value
        return value


@dataclass(frozen=True, kw_only=True)
class AdamW:
    """The settings of one step."""

    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.01


class Backward:
    """One forward and one backward pass of a language model over one text.

    Args:
        network: The model; its gradients are left as they were.
        ids: The text, or what the decoder reads.
        source_ids: What the encoder reads, where there is one.
    """

    def __init__(
        self, *, network: DecoderOnly | EncoderDecoder, ids: Sequence[int], source_ids: Sequence[int] = ()
    ) -> None:
        if len(ids) < 2:
            raise TraceError("a loss needs a token that follows another", got=f"{len(ids)} ids", expected="2 or more")
        self.network = network
        self.next_ids = list(ids[1:])
        keeper = _Keeper()
        read = torch.tensor([list(ids[:-1])])
        parameters = dict(network.named_parameters())
        with torch.enable_grad(), listen(keeper):
            if isinstance(network, DecoderOnly):
                network(read)
            else:
                network(torch.tensor([list(source_ids)]), read)
        logits_TV = keeper.kept["logits"][0]
        loss = functional.cross_entropy(logits_TV, torch.tensor(self.next_ids))
        sites = {site: value for site, value in keeper.kept.items() if value.requires_grad}
        wanted = [*parameters.values(), *sites.values()]
        found = torch.autograd.grad(loss, wanted, allow_unused=True)  # None where unused
        self.loss = float(loss.detach())
        self.values = {site: value.detach().numpy() for site, value in keeper.kept.items()}
        self.gradients = {
            name: one.numpy() if isinstance(one, Tensor) else np.zeros(tuple(each.shape), dtype=np.float32)
            for name, each, one in zip((*parameters, *sites), wanted, cast("Sequence[object]", found), strict=True)
        }

    def gradient(self, parameter: str, row: int, column: int) -> Node:
        """The gradient of one weight of a linear layer: over all positions, what went in times what came back.

        Args:
            parameter: A weight, such as `decoder.blocks.0.ffn.down.weight`.
            row: Which output.
            column: Which input.

        Raises:
            TraceError: No such weight, or one that is no linear layer's of a block.
        """
        x_site, y_site = self._sites(parameter)
        value = float(self.gradients[parameter][row, column])

        def opens() -> tuple[Node, ...]:
            x, delta = _flat(self.values[x_site]), _flat(self.gradients[y_site])
            return tuple(
                times(
                    f"position {t}: input · what came back",
                    given(f"{x_site}[position {t}, {column}]", float(x[t, column])),
                    self._delta(y_site, t, row, float(delta[t, row])),
                )
                for t in range(len(x))
            )

        address = Address(name=parameter, index=(row, column))
        return Node(
            name=f"d loss / d {address}",
            value=value,
            operation=Operation.SUM,
            formula="Σ over positions of input · d loss / d output",
            address=address,
            opens=opens,
        )

    def _delta(self, site: str, place: int, row: int, value: float) -> Node:
        """What came back to one number; at the logits it is the error of the probability."""
        name = f"d loss / d {site}[position {place}, {row}]"
        if site != "logits":
            return given(name, value, formula="came back by the chain rule")
        share = float(softmax(self.values["logits"][0, place])[row])
        hit = given("1 where it came next, otherwise 0", 1.0 if self.next_ids[place] == row else 0.0)
        error = total("p - 1[next]", (given("p", share), minus(hit)))
        inner = over(name, error, given("how many", len(self.next_ids)))
        return Node(
            name=name, value=value, operation=inner.operation, formula="(p - 1[next]) / how many", opens=inner.opens
        )

    def update(self, parameter: str, row: int, column: int, *, settings: AdamW | None = None) -> Node:
        """What one weight is after the first step of AdamW."""
        s = settings or AdamW()
        gradient = self.gradient(parameter, row, column)
        weight = float(dict(self.network.named_parameters())[parameter][row, column].detach())
        old = given(f"{parameter}[{row}, {column}]", weight)
        mean = times("m", given("1 - β1", 1 - s.beta1), gradient)
        square = times("v", given("1 - β2", 1 - s.beta2), gradient, gradient)
        mean = over("m / (1 - β1)", mean, given("1 - β1", 1 - s.beta1))
        square = over("v / (1 - β2)", square, given("1 - β2", 1 - s.beta2))
        below = total("√v + ε", (made(Operation.SQRT, "√v", (square,)), given("ε", s.epsilon)))
        step = times("-lr · m / (√v + ε)", given("-lr", -s.lr), over("m / (√v + ε)", mean, below))
        shrunk = times("-lr · decay · W", given("-lr · decay", -s.lr * s.decay), old)
        return total(f"{parameter}[{row}, {column}] after the step", (old, step, shrunk), formula="W + step + decay")

    def _sites(self, parameter: str) -> tuple[str, str]:
        """The sites that a linear layer reads and writes, where both are recorded."""
        if parameter not in self.gradients:
            names = [name for name, _ in self.network.named_parameters()]
            raise TraceError("no such parameter", got=parameter, expected="a weight", advice=nearest(parameter, names))
        parts = parameter.split(".")
        found: tuple[str, str] | None = None
        if parts[1:2] == ["blocks"] and parts[-1] == "weight":
            here = f"{parts[0]}.{parts[2]}"
            found = {
                ("ffn", "down"): (f"{here}.ffn.hidden", f"{here}.ffn.output"),
                ("self_attention", "output"): (f"{here}.self.mixed", f"{here}.self.output"),
                ("cross_attention", "output"): (f"{here}.cross.mixed", f"{here}.cross.output"),
            }.get((parts[3], parts[4]))
        if parameter.startswith("head.untied"):
            stack = self.network.decoder
            found = (
                f"decoder.{'final_norm' if stack.final_norm is not None else f'{len(stack.blocks) - 1}.resid_post'}",
                "logits",
            )
        if found is None:
            raise TraceError(
                "a gradient that is not opened",
                got=parameter,
                expected="…ffn.down.weight, …attention.output.weight, or head.untied.weight",
            )
        return found


def _flat(values: np.ndarray) -> np.ndarray:
    """One row a position; heads side by side."""
    one = values[0]
    return one.transpose(1, 0, 2).reshape(one.shape[1], -1) if one.ndim == 3 else one
