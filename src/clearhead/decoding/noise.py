"""Chance that can be repeated: noise as a function of seed, step and id.

    u = hash(seed, step, id)        gumbel = -log(-log u)        argmax(logit + gumbel) is a draw from softmax(logit)

(The Gumbel trick; Maddison et al. 2014.) No state is kept between steps, so that a row draws the same ids
whatever else is in its batch and wherever a run is taken up again, and a logit that differs in its last
digits almost never changes a draw.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

# The constants of splitmix64 (Steele et al. 2014), whose output passes the usual tests of randomness.
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_WORD = 2**64


def gumbel(ids_BV: Int[Tensor, "B V"], *, seeds: list[int], steps: list[int]) -> Float[Tensor, "B V"]:
    """The noise of each id of each row."""
    keys = [_signed(_mix(_mix(seed % _WORD) + step)) for seed, step in zip(seeds, steps, strict=True)]
    bits = ids_BV * _signed(_STEP) + torch.tensor(keys, device=ids_BV.device).unsqueeze(1)
    bits = (bits ^ _shifted(bits, 30)) * _signed(_FIRST)
    bits = (bits ^ _shifted(bits, 27)) * _signed(_SECOND)
    bits = bits ^ _shifted(bits, 31)
    # One bit less than a double holds, so that the half is not rounded away: never 0, never 1.
    uniform = (_shifted(bits, 12).double() + 0.5) * 2.0**-52
    return -torch.log(-torch.log(uniform))


def _shifted(bits: Tensor, by: int) -> Tensor:
    """A shift that brings in zeros; torch's own repeats the sign."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def _mix(bits: int) -> int:
    bits = (bits + _STEP) % _WORD
    bits = (bits ^ (bits >> 30)) * _FIRST % _WORD
    bits = (bits ^ (bits >> 27)) * _SECOND % _WORD
    return bits ^ (bits >> 31)


def _signed(bits: int) -> int:
    """The same bits as a signed number."""
    bits %= _WORD
    return bits - _WORD if bits >= _WORD // 2 else bits
