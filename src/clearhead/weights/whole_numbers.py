"""Matrices of whole numbers in a file: a quarter of the room, and nothing to round when they are run so.

Takes: tensors by the names of a layout, and which of them are matrices that rows are multiplied by.
Gives: whole numbers, with one scale an output beside each; or the tensors that they stand for.
Uses:  errors, weights.names.
Never: another layout's whole numbers: those that bring no scale of ours are left as they are.
"""

from collections.abc import Iterable, Mapping

import torch
from jaxtyping import Float, Int8
from torch import Tensor

from clearhead.errors import ShapeMismatch
from clearhead.weights.names import Rule

__all__ = ["METHOD", "quantise", "restored", "rounded"]

METHOD = "clearhead-int8"
"""What config.json calls it, so that other programs refuse what they would misread."""
_SCALE = ".scale"
_LARGEST = 127
_AT_ONCE = 1024
"""Outputs that are rounded together: a whole vocabulary would take several times its memory on the way."""


def quantise(weight: Tensor, *, inputs: int = -1) -> tuple[Int8[Tensor, "n m"], Float[Tensor, "_ _"]]:
    """The integers of a matrix and the scales of its outputs, over the axis of its inputs: W ≈ scale · integer."""
    weight = weight.detach()
    n_outputs, outputs = (weight.shape[1], 1) if inputs == 0 else (weight.shape[0], 0)
    integer = torch.empty(weight.shape, dtype=torch.int8, device=weight.device)
    scale = weight.new_empty((1, n_outputs) if inputs == 0 else (n_outputs, 1), dtype=torch.float32)
    parts = (torch.split(one, _AT_ONCE, dim=outputs) for one in (weight, integer, scale))
    for some, whole, own in zip(*parts, strict=True):
        own.copy_(some.float().abs().amax(inputs, keepdim=True) / _LARGEST)
        divisor = torch.where(own > 0, own, torch.ones_like(own))  # a row of zeros stays one
        whole.copy_((some.float() / divisor).round())
    return integer, scale


def rounded(tensors: Mapping[str, Tensor], rules: Iterable[Rule], matrices: set[str]) -> dict[str, Tensor]:
    """The tensors of a layout with these parameters of ours as whole numbers."""
    found = dict(tensors)
    for line in rules:
        if matrices.issuperset(line.native):
            integer, scale = quantise(tensors[line.foreign], inputs=0 if line.transposed else 1)
            found |= {line.foreign: integer, line.foreign + _SCALE: scale}
    return found


def restored(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that whole numbers and scales stand for; all others as they are.

    Raises:
        ShapeMismatch: A scale that does not fit its matrix.
    """
    found = dict(tensors)
    for name, tensor in tensors.items():
        scale = tensors.get(name + _SCALE)
        if tensor.dtype is not torch.int8 or scale is None:
            continue
        fitting = [(len(tensor), 1), (1, tensor.shape[-1])] if tensor.ndim == 2 else []
        if tuple(scale.shape) not in fitting:
            raise ShapeMismatch(f"{name}{_SCALE} does not fit {name}", got=tuple(scale.shape), expected=fitting)
        found[name] = tensor * scale
        del found[name + _SCALE]
    return found
