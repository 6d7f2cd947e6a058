"""Sizes by name: `preset("small", architecture="llama", vocab_size=8000)`."""

from collections.abc import Mapping
from types import MappingProxyType

from clearhead.config.architectures import Size
from clearhead.config.architectures import architecture as at_size
from clearhead.config.model import ModelConfig
from clearhead.errors import ConfigError, nearest

SIZES: Mapping[str, Size] = MappingProxyType(
    {
        "tiny": Size(n_layers=2, width=64, n_heads=4, feedforward_width=256, dropout=0.0),
        "small": Size(n_layers=4, width=256, n_heads=4, feedforward_width=1024),
        "base": Size(n_layers=6, width=512, n_heads=8, feedforward_width=2048),
        "original-base": Size(n_layers=6, width=512, n_heads=8, feedforward_width=2048),
        "original-big": Size(n_layers=6, width=1024, n_heads=16, feedforward_width=4096, dropout=0.3),
    }
)
"""The sizes; `original-base` and `original-big` are those of Vaswani et al. 2017, table 3."""


def preset(name: str, *, architecture: str = "original", vocab_size: int) -> ModelConfig:
    """An architecture at a size that has a name.

    Args:
        name: One of `SIZES`.
        architecture: One of `ARCHITECTURES`.
        vocab_size: Pieces of the vocabulary.

    Raises:
        ConfigError: No size or architecture of that name.
    """
    if name not in SIZES:
        raise ConfigError("an unknown preset", got=name, expected=", ".join(SIZES), advice=nearest(name, SIZES))
    return at_size(architecture, size=SIZES[name], vocab_size=vocab_size)
