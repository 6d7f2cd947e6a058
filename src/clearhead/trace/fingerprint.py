"""A few numbers of every parameter, as one short word: whether two networks have the same weights."""

from hashlib import sha256

import torch
from torch import nn

_SAMPLES = 16


@torch.no_grad()
def fingerprint(network: nn.Module) -> str:
    """What tells weights apart without reading all of them.

    Numbers are taken at even distances, so that training, which moves all of them, changes the word.
    """
    digest = sha256()
    for parameter in network.parameters():
        values = parameter.detach().reshape(-1)
        sample = values[:: max(1, values.numel() // _SAMPLES)].float().cpu()
        digest.update(sample.numpy().tobytes())
    return digest.hexdigest()[:16]
