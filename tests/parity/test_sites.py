"""Every number that our models compute, against the reference, at every site."""

from collections.abc import Callable

import pytest
import torch

from clearhead.errors import TraceError
from clearhead.models import EncoderDecoder
from clearhead.testing import assert_parity
from clearhead.testing.reference import run_reference
from clearhead.testing.side_by_side import align, record

from .specimen import Specimen, make_batch
from .table import as_property


@pytest.mark.parametrize("padded", [True, False], ids=["padded", "whole"])
def test_every_site_is_the_references(
    specimen: Specimen, padded: bool, record_property: Callable[[str, object], None]
) -> None:
    batch = make_batch(specimen.case, padded=padded)
    model = specimen.checkpoint.model
    reference = run_reference(specimen.reference, batch, head=model.config.head)
    ours, theirs = align(record(model, batch), reference, batch)
    found = assert_parity(ours, theirs)
    record_property(*as_property(specimen.case.family, specimen.case.name, found))


def test_one_text_by_itself_is_the_references(specimen: Specimen) -> None:
    whole = make_batch(specimen.case, padded=False)
    rows = {name: None if value is None else value[:1] for name, value in vars(whole).items()}
    batch = type(whole)(**rows)
    model = specimen.checkpoint.model
    reference = run_reference(specimen.reference, batch, head=model.config.head)
    assert_parity(*align(record(model, batch), reference, batch))


def test_nothing_of_the_folder_is_left_over(specimen: Specimen) -> None:
    assert specimen.checkpoint.unused == ()


@torch.no_grad()
def test_a_wrong_weight_is_found_and_its_layer_named(specimen: Specimen) -> None:
    batch = make_batch(specimen.case, padded=True)
    model = specimen.checkpoint.model
    reference = run_reference(specimen.reference, batch, head=model.config.head)
    stack = model.decoder if isinstance(model, EncoderDecoder) or model.config.encoder is None else model.encoder
    weight = stack.blocks[-1].self_attention.output.weight
    weight[0, 0] += 0.05
    try:
        where = f"{stack.name}.{len(stack.blocks) - 1}.self.output"
        with pytest.raises(AssertionError, match=f"first site that differs:\n{where} "):
            assert_parity(*align(record(model, batch), reference, batch))
    finally:
        weight[0, 0] -= 0.05


def test_a_site_that_the_reference_lacks_is_no_agreement(specimen: Specimen) -> None:
    batch = make_batch(specimen.case, padded=False)
    ours = record(specimen.checkpoint.model, batch)
    with pytest.raises(TraceError, match="gave no value for a site"):
        align(ours, {site: value for site, value in ours.items() if not site.endswith("score")}, batch)
