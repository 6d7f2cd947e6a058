"""A trained body under a new head."""

from dataclasses import replace

from clearhead.config import HeadConfig
from clearhead.models import EncoderOnly, build


def with_head(network: EncoderOnly, head: HeadConfig, *, seed: int = 0) -> EncoderOnly:
    """A copy of an encoder with another head: its body's weights, and first values for what the head adds."""
    new = build(replace(network.config, head=head), seed=seed)
    assert isinstance(new, EncoderOnly)
    old = dict(network.named_parameters())
    tensors = {
        name: old[name] if name in old and old[name].shape == parameter.shape else parameter
        for name, parameter in new.named_parameters()
    }
    new.set_parameters({name: tensor.detach() for name, tensor in tensors.items()})
    return new
