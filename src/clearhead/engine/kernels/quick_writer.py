"""An encoder-decoder that takes many steps in one call of a kernel, from ids to ids: of beams, or of likeliest ids.

What lies between the products of a step is not worth the ado of a part for each: with many texts side by side, threads
would wait for one another to do it. What blocks leave is kept step by step where somebody hears it; whoever hears more
than blocks has the steps one by one.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.decoding import Stepper
from clearhead.engine.int8 import Int8Embedding, Int8Linear
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.keeping import Keeping
from clearhead.engine.kernels.quick_search import QuickSearches, Several
from clearhead.engine.kernels.quick_stack import QuickStack
from clearhead.engine.kernels.ready import Kernels
from clearhead.engine.kernels.sites import announce, anybody_hears, tensor_of
from clearhead.engine.kernels.stack_table import Steps
from clearhead.engine.products import FewRowsLinear
from clearhead.engine.steppers import EncoderDecoderStepper, quiet_mode
from clearhead.engine.vocabulary import VocabularyProduct
from clearhead.nn import AttentionMask, Source
from clearhead.nn.block import Surroundings
from clearhead.nn.norm import LayerNorm
from clearhead.probe import heard, intact, present, probe, scope


class QuickWriter:
    """A stepper that takes over from another after its start.

    Args:
        found: The kernels.
        stepper: What begins, and keeps what there is of sources and targets.
    """

    def __init__(self, *, found: Kernels, stepper: EncoderDecoderStepper) -> None:
        network = stepper.network
        assert isinstance(network.decoder, QuickStack) and isinstance(network.head, VocabularyProduct)
        self._found, self._stepper, self._stack = found, stepper, network.decoder
        layer = network.head.product
        assert isinstance(layer, Int8Linear | FewRowsLinear)
        self._head = layer.product
        token = self._stack.embedding.token
        self._factors = np.array([token.scale, network.head.scale], dtype=np.float32)
        self._plan = np.zeros(at.WRITING_SIZE, dtype=np.int64)
        if isinstance(token, Int8Embedding):
            addresses = token.matrix.packed.data_ptr(), token.matrix.scales.data_ptr()
            self._plan[at.TOKENS], self._plan[at.TOKEN_SCALES] = addresses
            self._n_tokens = token.matrix.n_outputs
        else:
            self._plan[at.TOKENS] = token.weight.data_ptr()
            self._n_tokens = len(token.weight)
        last = self._stack.final_norm
        if last is not None:
            self._plan[at.LAST_NORM] = last.weight.data_ptr()
            self._plan[at.LAST_NORM_BIAS] = last.bias.data_ptr() if isinstance(last, LayerNorm) else 0
        self._lying: _Lying | None = None
        self._ids_told = False  # those of the step that comes next
        self._prompts_BT: Tensor | None = None  # once the sources are read for them

    def begin(self, searches: QuickSearches) -> bool:
        """Reads the sources, if the first step can be taken like all others: from one id a target."""
        stepper, stack = self._stepper, self._stack
        if stepper.prompt_lengths != {1} or not self._knows(searches):
            return False
        self._prompts_BT = stepper.read()
        if not self._goes_on:
            return False
        probe("@ids", self._prompts_BT)
        self._ids_told = True
        mask = AttentionMask(n_queries=1, n_keys=stepper.encoded_BSD.shape[1])
        with scope(stack.name), quiet_mode()():
            announce(stack.heard(rotated=False, begins=True))
            stack.look_across(Source(hidden_BSD=stepper.encoded_BSD, mask=mask), stepper.cache)
        return True

    def start(self) -> Float[Tensor, "B V"]:
        """The logits after every prompt."""
        return self._stepper.start() if self._prompts_BT is None else self._stepper.run(self._prompts_BT)

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row."""
        return self._stepper.step(ids_B)

    def follow(self, searches: QuickSearches) -> None:
        """Takes all searches some steps further."""
        cache, stack, ids = self._stepper.cache, self._stack, searches.ids
        n_rows, most_rows = len(ids), searches.most_rows
        if not self._knows(searches) or not self._goes_on:
            self._by_itself(searches)
            return
        n_past = cache.length
        with scope(stack.name):
            listening = stack.heard(rotated=False)
        keeping = Keeping(
            config=stack.config, heard=listening, n_rows=most_rows, n_past=n_past, n_source=cache.source_length
        )
        n_steps = min(cache.capacity - n_past, keeping.most_steps)
        self._plan[at.KEPT] = keeping.begin(n_steps)
        position, relative = stack.embedding.position, stack.relative
        places = None if position is None else position(torch.arange(n_past + n_steps).unsqueeze(0)).contiguous()
        self._plan[at.PLACES] = 0 if places is None else places.data_ptr()
        bias = None if relative is None else relative(n_queries=1, n_keys=n_past + n_steps).contiguous()
        lying = self._lying or _Lying.of(self._stepper, n_rows=n_rows)
        lying = lying.with_room(n_rows=n_rows, most_rows=most_rows, n_past=n_past, n_steps=n_steps)

        def arrange(shape: np.ndarray) -> None:
            lying.point(shape, self._plan)
            if bias is not None:  # the last of all distances; each step has one more
                shape[at.POSITION_BIAS] += 4 * (n_steps - 1)

        several = searches.several(n_steps, stack.room_for_logits(most_rows, self._head.n_outputs))
        *found, others = several
        mask = AttentionMask(n_queries=1, n_keys=cache.source_length)
        around = Surroundings(
            mask=AttentionMask(n_queries=1, n_keys=n_past + 1),
            rotation=None,
            bias_1HQK=bias,
            source=Source(hidden_BSD=self._stepper.encoded_BSD, mask=mask),
        )
        steps = Steps(
            around=around,
            n_rows=n_rows,
            most_rows=most_rows,
            n_steps=n_steps,
            n_more=self._head.n_inputs * self._head.n_outputs,
            arrange=arrange,
        )
        tables = self._plan, self._factors, self._head.table, keeping.table, *found, *others
        stack.write(self._found.write_on, cache, steps, *tables, apart=listening.apart)
        del places
        if present():
            self._tell(keeping, several, n_rows=n_rows)
        searches.took_several(several)
        self._lying = lying.after(int(several.state[at.N_STEPS]), n_rows=len(searches.ids))

    def _knows(self, searches: QuickSearches) -> bool:
        """Whether these are rows and ids for a kernel; of ids that nobody knows a part tells."""
        known = searches.ids.min() >= 0 and searches.ids.max() < self._n_tokens
        return bool(known) and searches.most_rows <= self._stack.most_rows

    @cached_property
    def _goes_on(self) -> bool:
        """Whether all who listen can hear several steps at once.

        Whoever is told site by site is told step by step, and so is who hears what is neither ids nor in a block.
        """
        stack, embed = self._stack, self._stack.embed_name
        with scope(stack.name):
            if stack.heard(rotated=False).told:
                return False
        between = [f"{stack.name}.{name}" for name in ("@places", "@positions", "@mask", "@cross_mask")]
        there = {
            f"{stack.name}.@bias": stack.relative,
            f"{stack.name}.final_norm": stack.final_norm,
            f"{embed}.position": stack.embedding.position,
        }
        between += [name for name, part in there.items() if part is not None]
        return not anybody_hears((*between, f"{embed}.token", "logits"))

    def _tell(self, keeping: Keeping, several: Several, *, n_rows: int) -> None:
        """Lets all who listen hear the steps, one after another."""
        counts = [n_rows, *several.counts.tolist()][: int(several.state[at.N_STEPS])]

        first = int(self._ids_told)
        self._ids_told = False

        def tell_ids(step: int) -> None:
            if step >= first:
                probe("@ids", tensor_of(several.trail[step, 1, : counts[step], None].copy()))

        keeping.tell(counts, before=tell_ids if heard("@ids") else None)

    def _by_itself(self, searches: QuickSearches) -> None:
        """One step where there are more rows than kernels are good for."""
        rows_B, _ = searches.advance(self._stepper.step(torch.as_tensor(searches.ids)))
        if len(searches.live):
            self._stepper.select(rows_B)

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Goes on with these rows."""
        self._stepper.select(rows_B)


class _Lying(NamedTuple):
    """Where the positions of rows lie: in which rows of memory those of targets and sources, and which are real.

    Each is two tables, [of two, row, position]: a kernel reads one and writes the other, in turn.
    """

    own: np.ndarray
    source: np.ndarray
    real: np.ndarray | None

    @classmethod
    def of(cls, stepper: EncoderDecoderStepper, *, n_rows: int) -> "_Lying":
        """As a stepper has it now."""
        block, mask_BS = stepper.cache.blocks[0], stepper.source_mask_BS
        places = np.arange(n_rows)[:, None]
        own, source = block.own.stored().lines_BK, block.cross.stored().lines_BK
        n_keys, n_source = block.own.length, block.cross.length
        return cls(
            own=np.broadcast_to(places, (1, n_rows, n_keys)) if own is None else own.numpy()[None],
            source=np.broadcast_to(places, (1, n_rows, n_source)) if source is None else source.numpy()[None],
            real=None if mask_BS is None else mask_BS.numpy()[None],
        )

    def with_room(self, *, n_rows: int, most_rows: int, n_past: int, n_steps: int) -> "_Lying":
        """Tables with room for more rows and positions; in the first, the next position of each row is its own."""
        own = np.empty((2, most_rows, n_past + n_steps + 1), dtype=np.int64)
        own[0, :n_rows, :n_past] = self.own[0, :n_rows, :n_past]
        own[0, :n_rows, n_past] = np.arange(n_rows)
        source = np.empty((2, most_rows, self.source.shape[2]), dtype=np.int64)
        source[0, :n_rows] = self.source[0, :n_rows]
        if self.real is None:
            return _Lying(own=own, source=source, real=None)
        real = np.empty((2, most_rows, self.real.shape[2]), dtype=np.bool_)
        real[0, :n_rows] = self.real[0, :n_rows]
        return _Lying(own=own, source=source, real=real)

    def point(self, shape: np.ndarray, plan: np.ndarray) -> None:
        """Points the tables of a step here."""
        shape[at.LINES], plan[at.OTHER_LINES] = self.own[0].ctypes.data, self.own[1].ctypes.data
        shape[at.SOURCE_LINES], plan[at.OTHER_SOURCE_LINES] = self.source[0].ctypes.data, self.source[1].ctypes.data
        shape[at.LINES_ROW], shape[at.SOURCE_LINES_ROW] = self.own.strides[1], self.source.strides[1]
        if self.real is not None:
            shape[at.SOURCE_MASK], plan[at.OTHER_MASK] = self.real[0].ctypes.data, self.real[1].ctypes.data
            shape[at.SOURCE_MASK_ROW] = self.real.strides[1]

    def after(self, n_steps: int, *, n_rows: int) -> "_Lying":
        """What a kernel has left after so many steps."""
        last = slice(n_steps % 2, n_steps % 2 + 1)
        real = None if self.real is None else self.real[last, :n_rows]
        return _Lying(own=self.own[last, :n_rows], source=self.source[last, :n_rows], real=real)


def quick_writer(found: Kernels, stepper: Stepper) -> Stepper:
    """A quick writer for what a stepper does, if there is one; otherwise the stepper."""
    if isinstance(stepper, EncoderDecoderStepper) and _can_write(stepper):
        return QuickWriter(found=found, stepper=stepper)
    return stepper


def _can_write(stepper: EncoderDecoderStepper) -> bool:
    stack, head = stepper.network.decoder, stepper.network.head
    if not isinstance(stack, QuickStack) or not isinstance(head, VocabularyProduct) or not intact():
        return False
    alike = len(stepper.prompt_lengths) == 1 and stack.config.attention.window is None
    plain = stack.embedding.segment is None and stack.embedding.norm is None and stack.rotary is None
    # The last norm is a part's where steps are taken by themselves, and bytes before the vocabulary could tell.
    same = stack.final_norm is None or stack.kind == at.FLOAT32
    return (
        alike
        and plain
        and same
        and isinstance(head.product, Int8Linear | FewRowsLinear)
        and head.product.product.kind == stack.kind
    )
