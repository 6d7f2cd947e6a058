"""A stack whose steps of decoding, and whose reading of whole texts, are done by a kernel.

The kernel stands in for the blocks where one position a row goes through them with a cache, and where an encoder reads
texts of which nothing but patterns is heard. Everything else goes by parts, and so does a step in which an edit
listens: what a kernel has computed can be recorded, but not replaced.
"""

import copy
import threading

import numpy as np
import torch
from torch import Tensor, nn

from clearhead.config import Activation, NormKind, NormPlacement
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import Buffers
from clearhead.engine.kernels.fleet import crew
from clearhead.engine.kernels.ready import Kernels, kernels, worked
from clearhead.engine.kernels.sites import NOTHING, Heard, plan, tell, tell_patterns
from clearhead.engine.kernels.tables import Product
from clearhead.engine.kernels.whole_texts import Laid, pass_texts, room
from clearhead.nn import Block, Stack, StackCache
from clearhead.nn.block import Surroundings
from clearhead.nn.norm import LayerNorm
from clearhead.probe import intact, once, present

_ACTIVATIONS = {
    Activation.RELU: at.RELU,
    Activation.GELU: at.GELU,
    Activation.GELU_TANH: at.GELU_TANH,
    Activation.SILU: at.SILU,
    Activation.TANH: at.TANH,
}
_MOST_ROWS = {at.INT8: 4096, at.FLOAT32: 64}
"""Rows up to which the kernel is faster than the parts; `python benchmarks/suite/crossover.py` measures it."""


class QuickStack(Stack):
    """A stack that has a kernel for its steps.

    Args:
        stack: The stack whose parts it takes over; its linear layers are products already.
    """

    def __init__(self, *, stack: Stack) -> None:
        nn.Module.__init__(self)
        self.__dict__.update(stack.__dict__)
        self._table = _Table(stack=stack)
        self._reading: _Table | None = None
        self._memory = threading.local()

    def __deepcopy__(self, memo: dict[int, object]) -> Stack:
        """The plain stack: addresses of weights and a thread's memory are not to be copied."""
        plain = Stack.__new__(Stack)
        nn.Module.__init__(plain)
        own = {name: value for name, value in self.__dict__.items() if name not in ("_table", "_reading", "_memory")}
        plain.__dict__.update(copy.deepcopy(own, memo))
        return plain

    def through_blocks(self, x_BTD: Tensor, around: Surroundings, cache: StackCache | None) -> Tensor:
        """The stream after all blocks."""
        steps = cache is not None and x_BTD.shape[1] == 1 and self._can_step(x_BTD, cache)
        reads = cache is None and self._can_read(x_BTD, around)
        found = kernels() if steps or reads else None
        if found is not None and reads:
            return self._read(found, x_BTD, around.mask.keys)
        if found is not None and cache is not None:
            return self._step(found, x_BTD, around, cache)
        if steps or reads:
            worked(x_BTD.shape[0] * x_BTD.shape[1] * self._table.n_weights)
        return super().through_blocks(x_BTD, around, cache)

    def _can_run(self, x_BTD: Tensor) -> bool:
        frozen = not (torch.is_grad_enabled() and (x_BTD.requires_grad or self._table.kind == at.FLOAT32))
        return x_BTD.dtype is torch.float32 and x_BTD.device.type == "cpu" and not self.training and frozen

    def _can_read(self, x_BTD: Tensor, around: Surroundings) -> bool:
        plain = around.rotation is None and around.bias_1HQK is None and around.source is None
        unheard = not present() or self._hears_patterns_alone(around)
        return plain and not around.mask.causal and x_BTD.numel() > 0 and self._can_run(x_BTD) and unheard

    def _hears_patterns_alone(self, around: Surroundings) -> bool:
        """Whether all that is heard of a reading is patterns of texts of one length, which the kernel can leave."""
        whole = around.mask.keys is None and self.config.head_width % at.PANEL == 0 and intact()
        return whole and self._heard(rotated=False).apart <= {at.PATTERN}

    def _can_step(self, x_BTD: Tensor, cache: StackCache) -> bool:
        table = self._table
        return (
            x_BTD.shape[0] <= _MOST_ROWS[table.kind]
            and self._can_run(x_BTD)
            and cache.length > 0
            and (not table.has_cross or cache.source_length > 0)
            and intact()
        )

    def _step(self, found: Kernels, x_BTD: Tensor, around: Surroundings, cache: StackCache) -> Tensor:
        n_rows, _, width = x_BTD.shape
        blocks = self._table.blocks.copy()
        shape = self._table.shape.copy()
        kept = _point(self._table, shape, blocks, around, cache, n_rows=n_rows)
        n_keys, n_source = int(shape[at.N_PAST]) + 1, int(shape[at.SOURCE_LENGTH])
        heard = self._heard(rotated=around.rotation is not None)
        buffers = self._room(n_rows=n_rows, n_keys=n_keys, n_source=n_source, apart=heard.apart)
        shape[at.ROUNDED], shape[at.ROUNDED_STRIDE] = buffers.rounded.data_ptr(), 2 * buffers.rounded.stride(0)
        shape[at.ROW_SCALES] = buffers.scales.data_ptr()
        buffers.begin(x_BTD[:, 0])
        crew(n_rows * self._table.n_weights).run(
            found.pass_blocks, shape, self._table.numbers, blocks, buffers.where, buffers.stride
        )
        del kept  # until here: the kernel has read it
        tell(heard, buffers, n_rows=n_rows, n_keys=n_keys, n_source=n_source)
        return buffers.end(n_rows, 1, width)

    def _read(self, found: Kernels, x_BSD: Tensor, real_BS: Tensor | None) -> Tensor:
        """Texts through all blocks; their weights are laid out for many rows when the first comes."""
        table = self._reading or _Table(stack=self, many_rows=True)
        self._reading, laid = table, Laid(x_BSD=x_BSD, real_BS=real_BS)
        self._memory.reading = room(laid, self.config, getattr(self._memory, "reading", None))
        tables = {"shape": table.shape.copy(), "numbers": table.numbers, "blocks": table.blocks}
        heard = self._heard(rotated=False)
        if not heard.apart:
            return pass_texts(laid, found.pass_blocks, self._memory.reading, **tables)
        n_texts, length, _ = x_BSD.shape
        patterns = np.empty((len(self.blocks), len(laid.rows), self.config.attention.n_heads, length), dtype=np.float32)
        found_BSD = pass_texts(laid, found.pass_blocks, self._memory.reading, **tables, patterns=patterns)
        tell_patterns(heard, patterns, n_texts=n_texts)
        return found_BSD

    def _heard(self, *, rotated: bool) -> Heard:
        config, has_cross = self.config, self._table.has_cross
        found = once(self, lambda: plan(config, n_layers=config.n_layers, has_cross=has_cross, rotated=rotated))
        return found or NOTHING

    def _room(self, *, n_rows: int, n_keys: int, n_source: int, apart: frozenset[int]) -> Buffers:
        held: Buffers | None = getattr(self._memory, "buffers", None)
        if held is None or not held.fits(n_rows=n_rows, n_keys=n_keys, n_source=n_source, apart=apart):
            n_keys = max(64, 1 << (n_keys - 1).bit_length())
            held = Buffers(config=self.config, n_rows=n_rows, n_keys=n_keys, n_source=n_source, apart=apart)
            self._memory.buffers = held
        return held


class _Table:
    """What does not change from step to step.

    Args:
        stack: The stack; it is kept alive by its owner, and its parameters by this table.
        many_rows: Whether floats are laid out for many rows, which takes a copy of them.
    """

    def __init__(self, *, stack: Stack, many_rows: bool = False) -> None:
        config = stack.config
        attention, norm, feedforward = config.attention, config.norm, config.feedforward
        self.has_cross = any(block.cross_norm is not None for block in _blocks(stack))
        self._kept: list[Tensor | None] = []
        self._many_rows = many_rows
        self.kind = at.FLOAT32
        self.blocks = np.array([self._block(block) for block in _blocks(stack)], dtype=np.int64)
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
        scale = _blocks(stack)[0].self_attention.scorer.fused_scale
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


def can_be_quick(stack: Stack) -> bool:
    """Whether there is a kernel for a stack: its scores are dot products of queries and keys."""
    return all(block.self_attention.scorer.fused_scale is not None for block in _blocks(stack))


def _blocks(stack: Stack) -> list[Block]:
    return [block for block in stack.blocks if isinstance(block, Block)]


def _point(
    table: _Table, shape: np.ndarray, blocks: np.ndarray, around: Surroundings, cache: StackCache, *, n_rows: int
) -> list[Tensor | None]:
    """Points the tables of a step to its caches, masks and positions; gives what must outlive the step."""
    own = [layer.own.opened() for layer in cache.blocks]
    blocks[:, at.KEYS : at.VALUES + 1] = [(key.data_ptr(), value.data_ptr()) for key, value, _ in own]
    key, value, lines = own[-1]
    source_lines = None
    if lines is not None:
        shape[at.LINES], shape[at.LINES_ROW] = lines.data_ptr(), 8 * lines.stride(0)
    shape[at.N_ROWS], shape[at.N_PAST] = n_rows, around.mask.n_keys - 1
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
