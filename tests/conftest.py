"""What tests of several rooms share."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from clearhead.config import SIZES, HeadConfig, HeadKind, TokenIds, architecture
from clearhead.model import Model
from clearhead.models import build
from clearhead.tasks import Loaded
from clearhead.testing import ByteTokenizer
from clearhead.weights import Checkpoint

# Said here because only this file is read where tests are handed to other processes.
from .parity.table import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data, from CLEARHEAD_SHARED or beside the repository."""
    folder = (ROOT / os.environ.get("CLEARHEAD_SHARED", "../shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set CLEARHEAD_SHARED")
    return folder


@pytest.fixture(scope="session")
def tiny_model() -> Callable[..., Model]:
    """A small random model with a byte tokenizer, of any architecture and head: make("marian")."""

    @cache
    def make(kind: str, head: HeadKind | None = None) -> Model:
        tokenizer = ByteTokenizer()
        size = replace(SIZES["tiny"], width=16, n_heads=2, feedforward_width=24, n_layers=2, max_length=48)
        config = architecture(kind, size=size, vocab_size=tokenizer.vocab_size)
        config = replace(config, tokens=TokenIds(pad=0, start=1, end=(2,), decoder_start=0))
        if head is not None:
            labels = ("bad", "good") if "classification" in head else ()
            config = replace(config, head=HeadConfig(kind=head, labels=labels))
        family = {"flan-t5": "t5", "original": "marian", "gpt": "gpt2"}.get(kind, kind)
        checkpoint = Checkpoint(model=build(config, seed=3), family=family, foreign={}, generation={})
        return Model(loaded=Loaded(checkpoint=checkpoint, tokenizer=tokenizer, name=kind))

    return make
