"""A network made ready to run: the same parts and parameters, with products made for decoding.

This is the seam between models and kernels: a part knows that it multiplies, and not by what; a stack knows that its
blocks follow one another, and not who takes the step.
"""

import copy
from collections.abc import Callable
from typing import TypeVar

from torch import Tensor, nn

from clearhead.engine.int8 import EVEN, Int8Embedding, Int8Linear, Int8Matrix
from clearhead.engine.joined import JoinedLinear, JoinedProduct
from clearhead.engine.kernels.fields import NEVER
from clearhead.engine.kernels.quick_stack import QuickStack, can_be_quick
from clearhead.engine.products import FewRowsLinear
from clearhead.engine.vocabulary import VocabularyProduct
from clearhead.engine.weight_format import WeightFormat
from clearhead.models import EncoderDecoder, LanguageModelHead
from clearhead.nn import Block, Stack, TokenEmbedding

Net = TypeVar("Net", bound=nn.Module)
_Make = Callable[..., nn.Module]


def prepare(network: Net, *, weights: WeightFormat = WeightFormat.FLOAT32) -> Net:
    """A twin of a network that shares its parameters and is made to run, not to train."""
    shared = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    twin = copy.deepcopy(network, memo=dict(shared)).eval()
    make: _Make = FewRowsLinear if weights is WeightFormat.FLOAT32 else Int8Linear
    for module in _modules(twin):
        if isinstance(module, Block):
            _join(module.self_attention, ("query", "key", "value"), make, by_rows=True)
            _join(module.ffn, ("gate", "up"), make)
    # Rows before a vocabulary may have 8 bits where beams make many of them; one row waits for memory in any case.
    _replace_layers(twin, make, even=EVEN if isinstance(network, EncoderDecoder) else NEVER)
    for module in _modules(twin):
        for name, part in list(module.named_children()):
            if isinstance(part, Stack) and can_be_quick(part):
                setattr(module, name, QuickStack(stack=part))
    return twin


def _replace_layers(twin: nn.Module, make: _Make, *, even: int) -> None:
    """Puts a product in the place of every linear layer, and whole numbers in that of token tables if asked for."""
    tables: dict[int, Int8Matrix] = {}
    for module in _modules(twin):
        for name, part in list(module.named_children()):
            if isinstance(part, LanguageModelHead):
                setattr(module, name, _vocabulary(part, make, tables, even=even))
            elif isinstance(part, nn.Linear):
                setattr(module, name, make(weight=part.weight, bias=part.bias))
            elif isinstance(part, TokenEmbedding) and make is Int8Linear:
                setattr(module, name, Int8Embedding(matrix=_table(part.weight, tables, even=even), scale=part.scale))


def _modules(twin: nn.Module) -> list[nn.Module]:
    return [module for module in twin.modules() if not isinstance(module, LanguageModelHead)]


def _join(part: nn.Module, names: tuple[str, ...], make: _Make, *, by_rows: bool = False) -> None:
    """Joins the layers of a part that read the same vectors, where it has all of them."""
    layers = [layer for name in names if isinstance(layer := getattr(part, name), nn.Linear)]
    if len(layers) < len(names):
        return
    joined = JoinedProduct(layers=layers, make=make, by_rows=by_rows)
    for place, (name, layer) in enumerate(zip(names, layers, strict=True)):
        setattr(part, name, JoinedLinear(layer=layer, joined=joined, place=place))


def _vocabulary(head: LanguageModelHead, make: _Make, tables: dict[int, Int8Matrix], *, even: int) -> VocabularyProduct:
    table = head.tied or head.untied
    assert table is not None
    weight = table.weight if make is FewRowsLinear else _table(table.weight, tables, even=even)
    return VocabularyProduct(product=make(weight=weight, bias=head.bias), scale=head.scale)


def _table(weight: Tensor, tables: dict[int, Int8Matrix], *, even: int) -> Int8Matrix:
    """A table of whole numbers; one that is the input's and the output's is made once."""
    if id(weight) not in tables:
        tables[id(weight)] = Int8Matrix(weight=weight, even=even)
    return tables[id(weight)]
