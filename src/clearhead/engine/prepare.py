"""A network made ready to run: the same parts and parameters, with products made for decoding.

This is the seam between models and kernels: a part knows that it multiplies, and not by what.
"""

import copy
from collections.abc import Callable
from typing import TypeVar, cast

from jaxtyping import Float
from torch import Tensor, nn

from clearhead.engine.int8 import Int8Linear
from clearhead.engine.products import FewRowsLinear
from clearhead.engine.weight_format import WeightFormat
from clearhead.models import LanguageModelHead
from clearhead.probe import probe

Net = TypeVar("Net", bound=nn.Module)

_PRODUCTS: dict[WeightFormat, Callable[..., nn.Module]] = {
    WeightFormat.FLOAT32: FewRowsLinear,
    WeightFormat.INT8: Int8Linear,
}


class VocabularyProduct(nn.Module):
    """Stands in for the output layer, whose weights may be the token table's."""

    def __init__(self, *, product: nn.Module, scale: float) -> None:
        super().__init__()
        self.product = product
        self.scale = scale

    def forward(self, hidden_BTD: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The logits of every position."""
        hidden_BTD = hidden_BTD if self.scale == 1.0 else hidden_BTD * self.scale
        return probe("logits", self.product(hidden_BTD))


def prepare(network: Net, *, weights: WeightFormat = WeightFormat.FLOAT32) -> Net:
    """A twin of a network that shares its parameters and is made to run, not to train."""
    shared = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    twin = copy.deepcopy(network, memo=dict(shared)).eval()
    make = _PRODUCTS[weights]
    modules = cast("list[tuple[str, nn.Module]]", list(twin.named_modules()))  # pyright: ignore[reportUnknownArgumentType]
    within_heads = {
        id(part) for _, module in modules if isinstance(module, LanguageModelHead) for part in module.children()
    }
    for name, module in modules:
        if id(module) in within_heads:
            continue  # the head is replaced as a whole
        if isinstance(module, nn.Linear):
            twin.set_submodule(name, make(weight=module.weight, bias=module.bias))
        elif isinstance(module, LanguageModelHead):
            table = module.tied or module.untied
            assert table is not None
            product = make(weight=table.weight, bias=module.bias)
            twin.set_submodule(name, VocabularyProduct(product=product, scale=module.scale))
    return twin
