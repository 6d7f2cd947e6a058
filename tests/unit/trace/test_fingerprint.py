"""A trace knows the weights that made it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from clearhead.config import SIZES, architecture
from clearhead.errors import TraceError
from clearhead.explain import Run
from clearhead.model import Model
from clearhead.models import build
from clearhead.trace import fingerprint, load_trace

Make = Callable[..., Model]


def test_the_same_weights_have_the_same_word() -> None:
    config = architecture("gpt2", size=SIZES["tiny"], vocab_size=30)
    assert fingerprint(build(config, seed=1)) == fingerprint(build(config, seed=1))
    assert fingerprint(build(config, seed=1)) != fingerprint(build(config, seed=2))


@pytest.mark.parametrize("kind", ["gpt2", "marian"])
def test_a_trace_of_other_weights_is_refused(tiny_model: Make, tmp_path: Path, kind: str) -> None:
    model = tiny_model(kind)
    run = model.generate("The cat", trace="logits", max_new_tokens=2)
    trace = load_trace(run.save(tmp_path / "run.safetensors"))
    assert Run(trace=trace, network=model.network)["logits"].shape == run["logits"].shape
    other = build(model.config, seed=3)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.001)
    with pytest.raises(TraceError, match="other weights"):
        Run(trace=trace, network=other)
