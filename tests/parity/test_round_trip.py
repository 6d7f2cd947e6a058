"""What we write, the reference opens: every tensor in its place, and the same numbers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from clearhead.config import Family, ModelConfig
from clearhead.testing import assert_parity
from clearhead.testing.reference import load_reference, run_reference
from clearhead.testing.side_by_side import record
from clearhead.weights import load_checkpoint, save_checkpoint

from .specimen import Specimen, make_batch

# A bare BERT may be saved without its pooler; the reference then makes one up, from its own folder as from ours.
NO_POOLER = {"bert-bare-three-segments", "bert-sentence-cls"}
POOLER = {"pooler.dense.weight", "pooler.dense.bias"}


def spelled_out(config: ModelConfig) -> ModelConfig:
    """A configuration that says how wide its heads are: folders may leave that open."""
    if config.family is not Family.DECODER_ONLY:
        return config
    stack = config.output_stack
    return replace(config, decoder=replace(stack, attention=replace(stack.attention, head_width=stack.head_width)))


@pytest.fixture
def saved(specimen: Specimen, tmp_path: Path) -> Path:
    save_checkpoint(specimen.checkpoint, tmp_path)
    return tmp_path


def test_the_reference_misses_nothing(specimen: Specimen, saved: Path) -> None:
    import transformers  # noqa: PLC0415  (seconds, which collecting tests need not wait for)

    kind = getattr(transformers, json.loads((saved / "config.json").read_text())["architectures"][0])
    _, told = kind.from_pretrained(saved, attn_implementation="eager", dtype=torch.float32, output_loading_info=True)
    assert set(told["missing_keys"]) == (POOLER if str(specimen.case) in NO_POOLER else set())
    assert not told["unexpected_keys"]
    assert not told["mismatched_keys"]


def test_the_reference_computes_the_same(specimen: Specimen, saved: Path) -> None:
    batch = make_batch(specimen.case, padded=True)
    head = specimen.checkpoint.config.head
    before = run_reference(specimen.reference, batch, head=head)
    after = run_reference(load_reference(saved), batch, head=head)
    sites = record(specimen.checkpoint.model, batch).keys()  # a pooler that was made up is not among them
    assert_parity(after, {site: before[site] for site in sites})


def test_what_we_write_we_read(specimen: Specimen, saved: Path) -> None:
    again = load_checkpoint(saved)
    assert spelled_out(again.config) == spelled_out(specimen.checkpoint.config)
    assert again.unused == ()
    before = dict(specimen.checkpoint.model.named_parameters())
    after = dict(again.model.named_parameters())
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_nothing_that_the_configuration_said_is_lost(specimen: Specimen, saved: Path) -> None:
    before = json.loads((specimen.folder / "config.json").read_text())
    after = json.loads((saved / "config.json").read_text())
    meant_to_change = {"transformers_version", "rope_scaling", "torch_dtype", "architectures"}
    assert before.keys() - after.keys() <= meant_to_change
