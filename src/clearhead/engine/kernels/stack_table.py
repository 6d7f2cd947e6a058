"""A stack as kernels read it: what stays from step to step, and where a step finds the rest."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from torch import Tensor, nn

from clearhead.config import Activation, NormKind, NormPlacement
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.tables import Product
from clearhead.nn import Block, Stack, StackCache
from clearhead.nn.block import Surroundings
from clearhead.nn.norm import LayerNorm

_ACTIVATIONS = {
    Activation.RELU: at.RELU,
    Activation.GELU: at.GELU,
    Activation.GELU_TANH: at.GELU_TANH,
    Activation.SILU: at.SILU,
    Activation.TANH: at.TANH,
}


class Steps(NamedTuple):
    """Steps that one call of a kernel takes.

    Attributes:
        around: What blocks look at in the first of them.
        n_rows: Rows in the first of them.
        most_rows: Rows in any of them.
        n_steps: How many there are at most.
        n_more: Weights that a row meets beside those of the blocks.
        arrange: What says in the tables of the first where things lie, if not as a cache has it.
    """

    around: Surroundings
    n_rows: int
    most_rows: int
    n_steps: int = 1
    n_more: int = 0
    arrange: Callable[[np.ndarray], None] | None = None


class StackTable:
    """What does not change from step to step.

    Args:
        stack: The stack; it is kept alive by its owner, and its parameters by this table.
        many_rows: Whether floats are laid out for many rows, which takes a copy of them.
    """

    def __init__(self, *, stack: Stack, many_rows: bool = False) -> None:
        config = stack.config
        attention, norm, feedforward = config.attention, config.norm, config.feedforward
        self.has_cross = any(block.cross_norm is not None for block in blocks_of(stack))
        self._kept: list[Tensor | None] = []
        self._many_rows = many_rows
        self.kind = at.FLOAT32
        self.blocks = np.array([self._block(block) for block in blocks_of(stack)], dtype=np.int64)
        self.n_weights = sum(one.numel() for one in self._kept if one is not None)
        self.shape = np.zeros(at.SHAPE_SIZE, dtype=np.int64)
        said = {
            at.FORMAT: self.kind,
            at.WIDTH: config.width,
            at.N_HEADS: attention.n_heads,
            at.N_KV_HEADS: attention.kv_heads,
            at.HEAD_WIDTH: config.head_width,
            at.FFN_WIDTH: feedforward.width,
            at.GATED: feedforward.gated,
            at.ACTIVATION: _ACTIVATIONS[feedforward.activation],
            at.NORM_KIND: at.LAYER if norm.kind is NormKind.LAYER else at.RMS,
            at.NORM_BEFORE: norm.placement is NormPlacement.BEFORE,
            at.HAS_CROSS: self.has_cross,
        }
        for place, number in said.items():
            self.shape[place] = int(number)
        scale = blocks_of(stack)[0].self_attention.scorer.fused_scale
        self.numbers = np.array([norm.epsilon, scale], dtype=np.float32)

    def _block(self, block: Block) -> list[int]:
        row = [0] * at.BLOCK_SIZE
        norms = {at.SELF_NORM: block.self_norm, at.CROSS_NORM: block.cross_norm, at.FFN_NORM: block.ffn_norm}
        for place, norm in norms.items():
            if norm is not None:
                bias = norm.bias if isinstance(norm, LayerNorm) else None
                row[place], row[place + 1] = norm.weight.data_ptr(), 0 if bias is None else bias.data_ptr()
                self._kept += [norm.weight.detach(), None if bias is None else bias.detach()]
        across = block.cross_attention
        products: dict[int, nn.Module | None] = {
            at.QKV: block.self_attention.query,
            at.OUTPUT: block.self_attention.output,
            at.CROSS_QUERY: across and across.query,
            at.CROSS_OUTPUT: across and across.output,
            at.UP: block.ffn.up if block.ffn.gate is None else block.ffn.gate,
            at.DOWN: block.ffn.down,
        }
        for place, layer in products.items():
            if layer is not None:
                product: Product = layer.product  # pyright: ignore[reportAssignmentType]  (prepared before)
                if self._many_rows and product.kind == at.FLOAT32:
                    product = product.in_panels()
                row[place : place + at.PRODUCT_SIZE] = product.table.tolist()
                self._kept += product.kept
                self.kind = product.kind
        return row


def blocks_of(stack: Stack) -> list[Block]:
    """The blocks of a stack."""
    return [block for block in stack.blocks if isinstance(block, Block)]


def point(
    table: StackTable, shape: np.ndarray, blocks: np.ndarray, steps: Steps, cache: StackCache
) -> list[Tensor | None]:
    """Points the tables of a step to its caches, masks and positions; gives what must outlive the step."""
    around = steps.around
    own = [layer.own.opened(steps.n_steps, n_rows=steps.most_rows) for layer in cache.blocks]
    blocks[:, at.KEYS : at.VALUES + 1] = [(key.data_ptr(), value.data_ptr()) for key, value, _ in own]
    key, value, lines = own[-1]
    source_lines = None
    if lines is not None:
        shape[at.LINES], shape[at.LINES_ROW] = lines.data_ptr(), 8 * lines.stride(0)
    shape[at.N_ROWS], shape[at.N_PAST] = steps.n_rows, around.mask.n_keys - 1
    shape[at.CACHE_ROW], shape[at.CACHE_HEAD] = 4 * key.stride(0), 4 * key.stride(1)
    assert key.stride(2) == shape[at.HEAD_WIDTH] and value.stride() == key.stride()
    is_open, bias, source_open = around.mask.open, around.bias_1HQK, None
    if is_open is not None:
        shape[at.MASK], shape[at.MASK_ROW] = is_open.data_ptr(), is_open.stride(0) if len(is_open) > 1 else 0
    if bias is not None:
        bias = bias.contiguous()
        shape[at.POSITION_BIAS], shape[at.POSITION_BIAS_HEAD] = bias.data_ptr(), 4 * bias.stride(1)
    if around.rotation is not None:
        cos, sin = around.rotation
        shape[at.COSINE], shape[at.SINE] = cos.data_ptr(), sin.data_ptr()
        shape[at.ROTATION_ROW] = 4 * cos.stride(0) if len(cos) > 1 else 0
    if table.has_cross:
        assert around.source is not None
        across = [layer.cross.stored() for layer in cache.blocks]
        addresses = [(key.data_ptr(), value.data_ptr()) for key, value, _ in across]
        blocks[:, at.SOURCE_KEYS : at.SOURCE_VALUES + 1] = addresses
        key, value, source_lines = across[-1]
        if source_lines is not None:
            shape[at.SOURCE_LINES], shape[at.SOURCE_LINES_ROW] = source_lines.data_ptr(), 8 * source_lines.stride(0)
        assert key.stride(2) == shape[at.HEAD_WIDTH] and value.stride() == key.stride()
        shape[at.SOURCE_LENGTH], shape[at.SOURCE_ROW] = cache.source_length, 4 * key.stride(0)
        shape[at.SOURCE_HEAD] = 4 * key.stride(1)
        source_open = around.source.mask.open
        if source_open is not None:
            shape[at.SOURCE_MASK] = source_open.data_ptr()
            shape[at.SOURCE_MASK_ROW] = source_open.stride(0) if len(source_open) > 1 else 0
    return [is_open, bias, source_open, lines, source_lines]
