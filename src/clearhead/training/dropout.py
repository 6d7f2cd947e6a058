"""Dropout that draws eight shares from one random number, and where a model drops what.

torch draws one number for every value, on one thread; at the widths that fit a CPU this takes a quarter of a
training step. A byte a value is enough to drop a share of it, if the share is taken as a multiple of 1/256.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from clearhead.nn.attention.attention import Attention
from clearhead.nn.feedforward import FeedForward
from clearhead.training.settings import DropoutSettings

_LEVELS = 256
_chance: ContextVar[torch.Generator | None] = ContextVar("chance", default=None)  # None for torch's default


@contextmanager
def drawing_from(generator: torch.Generator) -> Generator[None]:
    """Lets `ByteDropout` draw from a generator of this thread's own until the block ends."""
    token = _chance.set(generator)
    try:
        yield
    finally:
        _chance.reset(token)


class ByteDropout(nn.Dropout):
    """Dropout of a share that is rounded to a multiple of 1/256, and what is kept scaled to match."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (torch's name)
        """Values, some of them 0 while training."""
        n_dropped = round(self.p * _LEVELS)
        if not self.training or not n_dropped:
            return input
        if input.device.type != "cpu":
            return super().forward(input)
        return _Drop.apply(input, n_dropped)  # type: ignore[return-value]  # apply is untyped


class _Drop(Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, n_dropped: int) -> Tensor:
        # A share as a float is four times a flag's memory; but flags are compared and chosen by several times slower.
        share = _random_bytes(values.numel()).to(values.dtype).view(values.shape)
        share.ge_(n_dropped).mul_(_LEVELS / (_LEVELS - n_dropped))
        ctx.save_for_backward(share)
        return values * share

    @staticmethod
    def backward(ctx: Any, *outside: Any) -> tuple[Tensor, None]:
        return outside[0] * ctx.saved_tensors[0], None


def _random_bytes(n_bytes: int) -> Tensor:
    """Bytes, all values alike."""
    words = torch.empty((n_bytes + 7) // 8, dtype=torch.int64)
    return words.random_(-(2**63), None, generator=_chance.get()).view(torch.uint8)[:n_bytes]


def set_dropout(network: nn.Module, settings: DropoutSettings) -> None:
    """Makes a network drop what the settings say, by `ByteDropout`."""
    for module in network.modules():
        if isinstance(module, Attention) and settings.attention is not None:
            module.dropout = settings.attention
        wanted = settings.hidden if isinstance(module, FeedForward) else settings.residual
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, ByteDropout(child.p if wanted is None else wanted))
