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

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.buffers import Buffers
from clearhead.engine.kernels.fleet import Kernel, crew
from clearhead.engine.kernels.pages import aligned
from clearhead.engine.kernels.ready import Kernels, kernels, worked
from clearhead.engine.kernels.sites import NOTHING, Heard, announce, plan, sites_of, tell, tell_patterns
from clearhead.engine.kernels.stack_table import StackTable, Steps, blocks_of, point
from clearhead.engine.kernels.whole_texts import Laid, pass_texts, room
from clearhead.nn import Stack, StackCache
from clearhead.nn.block import Source, Surroundings
from clearhead.probe import intact, once, present, scope

_MOST_ROWS = {at.INT8: 4096, at.FLOAT32: 64}
"""Rows up to which the kernel is faster than the parts; `python benchmarks/suite/crossover.py` measures it."""
_MOST_SHORT_ROWS, _SHORT = 256, 1024
"""Rows for floats where no product has more inputs than these: it is about as fast, and several steps are one call."""


class QuickStack(Stack):
    """A stack that has a kernel for its steps.

    Args:
        stack: The stack whose parts it takes over; its linear layers are products already.
    """

    def __init__(self, *, stack: Stack) -> None:
        nn.Module.__init__(self)
        self.__dict__.update(stack.__dict__)
        self._table = StackTable(stack=stack)
        self._reading: StackTable | None = None
        self._sites = sites_of(self.config, n_layers=self.config.n_layers, has_cross=self._table.has_cross)
        self._memory = threading.local()

    def __deepcopy__(self, memo: dict[int, object]) -> Stack:
        """The plain stack: addresses of weights and a thread's memory are not to be copied."""
        plain = Stack.__new__(Stack)
        nn.Module.__init__(plain)
        ours = ("_table", "_reading", "_sites", "_memory")
        own = {name: value for name, value in self.__dict__.items() if name not in ours}
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
        possible = plain and not around.mask.causal and x_BTD.numel() > 0 and self._can_run(x_BTD)
        return possible and (not present() or self._hears_patterns_alone())

    def _hears_patterns_alone(self) -> bool:
        """Whether all that is heard of a reading is patterns, which the kernel can leave."""
        possible = self.config.head_width % at.PANEL == 0 and intact()
        return possible and self.heard(rotated=False).apart <= {at.PATTERN}

    def _can_step(self, x_BTD: Tensor, cache: StackCache) -> bool:
        return (
            x_BTD.shape[0] <= self.most_rows
            and self._can_run(x_BTD)
            and intact()
            and (cache.length > 0 or self._begins(cache))
        )

    def _begins(self, cache: StackCache) -> bool:
        """Whether it is the first step of targets that begin with one id, which nobody is told site by site."""
        fresh = self._table.has_cross and cache.length == cache.source_length == 0
        return fresh and not self.heard(rotated=self.rotary is not None, begins=True).told

    def _step(self, found: Kernels, x_BTD: Tensor, around: Surroundings, cache: StackCache) -> Tensor:
        n_rows, _, width = x_BTD.shape
        begins = cache.length == 0
        heard = self.heard(rotated=around.rotation is not None, begins=begins)
        if begins:
            announce(heard)
            self.look_across(around.source, cache)
        n_keys, n_source = around.mask.n_keys, cache.source_length
        buffers = self._room(n_rows=n_rows, n_keys=n_keys, n_source=n_source, apart=heard.apart)
        buffers.begin(x_BTD[:, 0])
        self._run(found.pass_blocks, Steps(around=around, n_rows=n_rows, most_rows=n_rows), cache, buffers)
        tell(heard, buffers, n_rows=n_rows, n_keys=n_keys, n_source=n_source)
        return buffers.end(n_rows, 1, width)

    def look_across(self, source: Source | None, cache: StackCache) -> None:
        """Caches what every block makes of a source, and takes memory for the targets."""
        assert source is not None
        for index, (block, held) in enumerate(zip(blocks_of(self), cache.blocks, strict=True)):
            assert block.cross_attention is not None
            with scope(str(index)), scope("cross"):
                key_BGKC, value_BGKC = block.cross_attention.look_up(source.hidden_BSD)
            held.cross.append(key_BGKC, value_BGKC)
            held.own.begin(len(key_BGKC), like=key_BGKC)

    def write(
        self, kernel: Kernel, cache: StackCache, steps: Steps, *more: object, apart: frozenset[int] = frozenset()
    ) -> None:
        """Several steps by a kernel that has more to do than to pass blocks.

        Args:
            kernel: What takes the tables of a step, and more.
            cache: What earlier positions left; takes the new ones.
            steps: How many, of how many rows, and what their blocks look at.
            more: What else the kernel takes.
            apart: Buffers that every block has for itself.
        """
        n_keys, n_source = cache.length + steps.n_steps, cache.source_length
        buffers = self._room(n_rows=steps.most_rows, n_keys=n_keys, n_source=n_source, apart=apart)
        self._run(kernel, steps, cache, buffers, *more)

    def room_for_logits(self, n_rows: int, n_logits: int) -> Tensor:
        """Memory of this thread for the logits of some rows, which the next step writes over."""
        held: Tensor | None = getattr(self._memory, "logits", None)
        width = -(-n_logits // at.OUTPUTS) * at.OUTPUTS
        if held is None or len(held) < n_rows or held.shape[1] != width:
            held = self._memory.logits = aligned(n_rows, width, dtype=torch.float32)
        return held[:, :n_logits]

    @property
    def kind(self) -> int:
        """The format of the weights."""
        return self._table.kind

    @property
    def most_rows(self) -> int:
        """Rows up to which the kernel is faster than the parts."""
        most = _MOST_ROWS[self._table.kind]
        config = self.config
        longest = max(config.width, config.attention.n_heads * config.head_width, config.feedforward.width)
        return max(most, _MOST_SHORT_ROWS) if longest <= _SHORT else most

    def _run(self, kernel: Kernel, steps: Steps, cache: StackCache, buffers: Buffers, *more: object) -> None:
        table = self._table
        blocks, shape = table.blocks.copy(), table.shape.copy()
        kept = point(table, shape, blocks, steps, cache)
        shape[at.ROUNDED], shape[at.ROUNDED_STRIDE] = buffers.rounded.data_ptr(), 2 * buffers.rounded.stride(0)
        shape[at.ROW_SCALES] = buffers.scales.data_ptr()
        if steps.arrange is not None:
            steps.arrange(shape)
        where, stride = buffers.where, buffers.stride
        crew(steps.most_rows * (table.n_weights + steps.n_more)).run(
            kernel, shape, table.numbers, blocks, where, stride, *more
        )
        del kept  # until here: the kernel has read it

    def _read(self, found: Kernels, x_BSD: Tensor, real_BS: Tensor | None) -> Tensor:
        """Texts through all blocks; their weights are laid out for many rows when the first comes."""
        table = self._reading or StackTable(stack=self, many_rows=True)
        self._reading, laid = table, Laid(x_BSD=x_BSD, real_BS=real_BS)
        self._memory.reading = room(laid, self.config, getattr(self._memory, "reading", None))
        tables = {"shape": table.shape.copy(), "numbers": table.numbers, "blocks": table.blocks}
        heard = self.heard(rotated=False)
        if not heard.apart:
            return pass_texts(laid, found.pass_blocks, self._memory.reading, **tables)
        length = laid.longest
        patterns = np.empty((len(self.blocks), laid.n_rows, self.config.attention.n_heads, length), dtype=np.float32)
        found_BSD = pass_texts(laid, found.pass_blocks, self._memory.reading, **tables, patterns=patterns)
        tell_patterns(heard, laid.apart(patterns))
        return found_BSD

    def heard(self, *, rotated: bool, begins: bool = False) -> Heard:
        """What somebody hears of the blocks; asked inside the scope of the stack."""
        return once((self, rotated, begins), lambda: plan(self._sites, rotated=rotated, begins=begins)) or NOTHING

    def _room(self, *, n_rows: int, n_keys: int, n_source: int, apart: frozenset[int]) -> Buffers:
        held: Buffers | None = getattr(self._memory, "buffers", None)
        if held is None or not held.fits(n_rows=n_rows, n_keys=n_keys, n_source=n_source, apart=apart):
            n_keys = max(64, 1 << (n_keys - 1).bit_length())
            held = Buffers(config=self.config, n_rows=n_rows, n_keys=n_keys, n_source=n_source, apart=apart)
            self._memory.buffers = held
        return held


def can_be_quick(stack: Stack) -> bool:
    """Whether there is a kernel for a stack: its scores are dot products of queries and keys."""
    return all(block.self_attention.scorer.fused_scale is not None for block in blocks_of(stack))
