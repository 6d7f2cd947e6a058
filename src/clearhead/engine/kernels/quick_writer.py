"""An encoder-decoder whose beam searches take each step by one call of a kernel, from ids to ids.

Where nobody listens, what lies between the products of a step is not worth the ado of a part for each: with many
texts side by side, threads would wait for one another to do it.
"""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.decoding import Stepper
from clearhead.engine.int8 import Int8Embedding, Int8Linear
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.quick_search import QuickSearches
from clearhead.engine.kernels.quick_stack import QuickStack
from clearhead.engine.kernels.ready import Kernels
from clearhead.engine.products import FewRowsLinear
from clearhead.engine.steppers import EncoderDecoderStepper
from clearhead.engine.vocabulary import VocabularyProduct
from clearhead.nn import AttentionMask, Source
from clearhead.nn.block import Surroundings
from clearhead.nn.norm import LayerNorm
from clearhead.probe import present


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
        else:
            self._plan[at.TOKENS] = token.weight.data_ptr()
        last = self._stack.final_norm
        if last is not None:
            self._plan[at.LAST_NORM] = last.weight.data_ptr()
            self._plan[at.LAST_NORM_BIAS] = last.bias.data_ptr() if isinstance(last, LayerNorm) else 0
        self._source: tuple[Tensor | None, AttentionMask] | None = None

    def start(self) -> Float[Tensor, "B V"]:
        """The logits after every prompt."""
        return self._stepper.start()

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row."""
        return self._stepper.step(ids_B)

    def follow(self, ids_B: Int[Tensor, " B"], searches: QuickSearches) -> tuple[Tensor, Tensor]:
        """One more id for every row, and all searches one step further; gives the rows to go on with and their ids."""
        cache, stack, n_rows = self._stepper.cache, self._stack, len(ids_B)
        if n_rows > stack.most_rows:
            return searches.advance(self._stepper.step(ids_B))
        position = stack.embedding.position
        there = None if position is None else position(torch.tensor([[cache.length]]))  # until the kernel has read it
        self._plan[at.PLACE] = 0 if there is None else there.data_ptr()
        ids = np.ascontiguousarray(ids_B.numpy(), dtype=np.int64)
        assert ids.min() >= 0 and ids.max() < self._head.n_outputs
        tables = searches.tables(stack.room_for_logits(n_rows, self._head.n_outputs))
        more = (ids, self._plan, self._factors, self._head.table, *tables)
        stack.write(self._found.write_on, self._around(cache.length), cache, n_rows, more)
        return searches.took(tables)

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Goes on with these rows."""
        self._stepper.select(rows_B)

    def _around(self, n_past: int) -> Surroundings:
        relative, mask_BS = self._stack.relative, self._stepper.source_mask_BS
        if self._source is None or self._source[0] is not mask_BS:
            mask = AttentionMask(n_queries=1, n_keys=self._stepper.cache.source_length, keys=mask_BS)
            self._source = (mask_BS, mask)
        return Surroundings(
            mask=AttentionMask(n_queries=1, n_keys=n_past + 1),
            rotation=None,
            bias_1HQK=None if relative is None else relative(n_queries=1, n_keys=n_past + 1),
            source=Source(hidden_BSD=self._stepper.encoded_BSD, mask=self._source[1]),
        )


def quick_writer(found: Kernels, stepper: Stepper) -> Stepper:
    """A quick writer for what a stepper does, if targets begin alike and nobody listens; otherwise the stepper."""
    if isinstance(stepper, EncoderDecoderStepper) and _can_write(stepper):
        return QuickWriter(found=found, stepper=stepper)
    return stepper


def _can_write(stepper: EncoderDecoderStepper) -> bool:
    stack, head = stepper.network.decoder, stepper.network.head
    if not isinstance(stack, QuickStack) or not isinstance(head, VocabularyProduct) or stepper.is_padded or present():
        return False
    plain = stack.embedding.segment is None and stack.embedding.norm is None and stack.rotary is None
    known = isinstance(head.product, Int8Linear | FewRowsLinear) and head.product.product.kind == stack.kind
    return plain and known and stack.config.attention.window is None
