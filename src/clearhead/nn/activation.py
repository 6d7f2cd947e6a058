"""The bends between linear maps."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional

from clearhead.config import Activation

ACTIVATIONS: Mapping[Activation, Callable[[Tensor], Tensor]] = MappingProxyType(
    {
        Activation.RELU: functional.relu,
        Activation.GELU: functional.gelu,
        Activation.GELU_TANH: partial(functional.gelu, approximate="tanh"),
        Activation.SILU: functional.silu,
        Activation.TANH: torch.tanh,
    }
)
