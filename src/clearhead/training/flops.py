"""What a training step costs, and what the machine could do.

    a matrix of n numbers      6 n a token             2 n forward, 4 n backward
    a layer of attention       12 · width · length a token; half of it where a position sees its past alone

Real tokens count, padding does not; nor do norms, bends and the optimiser. So the share of the peak that a run
shows is the share that went into the model (Kaplan et al. 2020, section 2.1; Chowdhery et al. 2022, appendix B).
"""

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, Network
from clearhead.nn import Stack
from clearhead.nn.product import product

_SIDE = 1024
_TRIES = 8
_ROUNDS, _WIDE = 4, 2
"""Of muon.py; a test compares them."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a token costs a model.

    Attributes:
        source_numbers: Numbers of the matrices that a source token meets.
        target_numbers: Those that a target token meets.
        source_attention: Width times layers of what a source token looks at its own text with.
        target_attention: The same of a target token; it sees half of its own text on average.
        cross_attention: The same of a target token looking at the source.
    """

    source_numbers: int = 0
    target_numbers: int = 0
    source_attention: int = 0
    target_attention: int = 0
    cross_attention: int = 0

    def flops(self, *, n_source: int, n_target: int, n_rows: int) -> float:
        """The operations of a training step on so many real tokens in so many rows."""
        if not n_rows:  # a process may have nothing to do at the last step of an epoch
            return 0.0
        source_length, target_length = n_source / n_rows, n_target / n_rows
        matrices = 6.0 * (self.source_numbers * n_source + self.target_numbers * n_target)
        own = self.source_attention * n_source * source_length + self.target_attention * n_target * target_length / 2
        return matrices + 12.0 * (own + self.cross_attention * n_target * source_length)


def cost_of(network: Network[Any]) -> Cost:
    """What a token costs a network."""
    match network:
        case EncoderDecoder():
            cross = [block.get_submodule("cross_attention") for block in network.decoder.blocks]
            looks = sum(_numbers(each.get_submodule(name)) for each in cross for name in ("key", "value"))
            return Cost(
                source_numbers=_numbers(network.encoder) + looks,
                target_numbers=_numbers(network.decoder) - looks + _table(network),
                source_attention=_attention(network.encoder),
                target_attention=_attention(network.decoder),
                cross_attention=_attention(network.decoder),
            )
        case DecoderOnly():
            return Cost(
                target_numbers=_numbers(network.decoder) + _table(network),
                target_attention=_attention(network.decoder),
            )
        case EncoderOnly():
            return Cost(source_numbers=_numbers(network.encoder), source_attention=_attention(network.encoder))
        case _:
            numbers = sum(each.numel() for each in network.parameters() if each.ndim == 2)
            return Cost(source_numbers=numbers // 2, target_numbers=numbers // 2)


def muon_flops(network: Network[Any]) -> float:
    """The operations of making the matrices of all stacks orthogonal, once a step (see muon.py)."""
    stacks = [each for each in network.modules() if isinstance(each, Stack)]
    linear = [each for stack in stacks for each in stack.modules() if isinstance(each, nn.Linear)]
    return sum((_orthogonal(*sorted(each.weight.shape)) for each in linear), 0.0)


def _orthogonal(low: int, wide: int) -> float:
    """Rounds of x x^T, its square and a product with x; of wide matrices, all but two of these in the square."""
    across, square = 2.0 * low * low * wide, 2.0 * low**3
    if wide < _WIDE * low:
        return _ROUNDS * (2 * across + square)
    return 2 * across + _ROUNDS * 2 * square + (_ROUNDS - 1) * 2 * square


def _numbers(module: nn.Module) -> int:
    return sum(each.weight.numel() for each in module.modules() if isinstance(each, nn.Linear))


def _table(network: EncoderDecoder | DecoderOnly) -> int:
    stack = network.config.output_stack
    return 0 if network.head is None else stack.embedding.vocab_size * stack.width


def _attention(stack: Stack) -> int:
    config = stack.config
    return config.n_layers * config.attention.n_heads * config.head_width


@cache
@torch.no_grad()
def matmul_peak() -> float:
    """The operations a second that this machine makes of a large float32 product; the best of a few tries."""
    first, second = torch.ones(_SIDE, _SIDE), torch.ones(_SIDE, _SIDE)
    best = float("inf")
    for _ in range(_TRIES):
        start = time.perf_counter()
        product(first, second)
        best = min(best, time.perf_counter() - start)
    return 2.0 * _SIDE**3 / best
