"""Random numbers that depend on nothing but the seed of the run, the step and the process.

A generator that ran on from step to step would have to be saved and restored to the bit; one that is seeded
anew at every step need not be, and what happens between two steps (an evaluation, a picture) cannot disturb it.
"""

import random
from hashlib import blake2b

import numpy as np
import torch


def step_seed(seed: int, *, step: int, rank: int = 0) -> int:
    """A seed for one step of one process; neighbours have nothing in common."""
    digest = blake2b(f"{seed}/{step}/{rank}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1  # torch takes seeds of 63 bits everywhere


def seed_step(seed: int, *, step: int, rank: int = 0) -> None:
    """Seeds torch, numpy and Python for one step."""
    number = step_seed(seed, step=step, rank=rank)
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
    np.random.seed(number % 2**32)
    random.seed(number)
