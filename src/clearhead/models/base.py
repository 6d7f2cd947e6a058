"""What every model can do, whatever its family."""

from collections.abc import Mapping
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from clearhead.errors import MissingTensor, ShapeMismatch, WeightsError, nearest

Config = TypeVar("Config")

_REAL = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_AT_ONCE = 2**20


class Network(nn.Module, Generic[Config]):
    """A whole model as numbers know it, built from one configuration."""

    def __init__(self, *, config: Config) -> None:
        super().__init__()
        self.config = config

    @property
    def n_parameters(self) -> int:
        """How many numbers training can change; shared ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())

    @torch.no_grad()
    def set_parameters(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes every parameter from given tensors, or none if one of them does not fit.

        A model that has memory copies the tensors into it; a blank one makes them its own.

        Raises:
            MissingTensor: A parameter without a tensor.
            ShapeMismatch: A tensor of another shape.
            WeightsError: A tensor that no parameter asks for, or one that holds NaN or infinity.
        """
        parameters = dict(self.named_parameters())
        for name, parameter in parameters.items():
            self._check(name, parameter, tensors)
        for name in tensors.keys() - parameters.keys():
            raise WeightsError("a tensor that no parameter asks for", got=name, advice=nearest(name, parameters))
        for name, parameter in parameters.items():
            if parameter.is_meta:
                owner, _, leaf = name.rpartition(".")
                setattr(self.get_submodule(owner), leaf, nn.Parameter(tensors[name].to(parameter.dtype).contiguous()))
            else:
                parameter.copy_(tensors[name])

    def _check(self, name: str, parameter: Tensor, tensors: Mapping[str, Tensor]) -> None:
        if name not in tensors:
            raise MissingTensor("a tensor is missing", got=f"no {name}", advice=nearest(name, tensors))
        tensor = tensors[name]
        if tensor.shape != parameter.shape:
            raise ShapeMismatch(f"{name} has another shape", got=tuple(tensor.shape), expected=tuple(parameter.shape))
        if tensor.dtype not in _REAL:
            raise WeightsError(
                f"{name} holds no real numbers", got=tensor.dtype, expected=", ".join(str(dtype) for dtype in _REAL)
            )
        # Some at a time: what is asked of a whole table takes more memory on the way than the table.
        parts = torch.split(tensor.flatten() if tensor.is_contiguous() else tensor, _AT_ONCE)
        n_bad = sum(int((~torch.isfinite(part.to(parameter.dtype))).sum()) for part in parts)
        if n_bad:
            raise WeightsError(
                f"{name} holds values that are not finite",
                got=f"{n_bad} of {tensor.numel()} are NaN or infinite",
                expected="finite numbers",
                advice="an earlier checkpoint; this one was damaged, or its training diverged",
            )
