"""Our cache, piece by piece, against the reference on the whole text at once."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from clearhead.models import DecoderOnly, EncoderDecoder
from clearhead.testing import assert_parity
from clearhead.testing.side_by_side import Batch

from .configurations import CASES, Case
from .specimen import Specimen, make_batch

# Its frequencies follow the length of the text, so that a cached key is not the key of a longer text: with a
# cache the reference itself gives other numbers, and those are compared.
STRETCHING = ("llama-rope-dynamic", "llama-rope-dynamic-other-key")
WRITING = [case for case in CASES if case.family not in ("bert", "distilbert")]


@pytest.mark.parametrize("specimen", WRITING, indirect=True, ids=str)
@pytest.mark.parametrize("first", [1, 5], ids=["token-by-token", "after-five"])
def test_piece_by_piece_is_the_references_whole(specimen: Specimen, first: int) -> None:
    batch = make_batch(specimen.case, padded=False)
    ours = in_pieces(specimen.checkpoint.model, batch, first=first)
    stretches = str(specimen.case) in STRETCHING
    theirs = reference_in_pieces(specimen.reference, batch, first) if stretches else whole(specimen.reference, batch)
    assert_parity({"last": ours}, {"last": theirs})


@pytest.mark.parametrize("specimen", [case for case in WRITING if case.family in ("t5", "marian")], indirect=True)
def test_a_padded_source_is_the_references_too(specimen: Specimen) -> None:
    padded = make_batch(specimen.case, padded=True)
    batch = Batch(ids_BS=padded.ids_BS, mask_BS=padded.mask_BS, target_ids_BT=padded.target_ids_BT)
    ours = in_pieces(specimen.checkpoint.model, batch, first=1)
    assert_parity({"last": ours}, {"last": whole(specimen.reference, batch)})


def pieces(ids: Tensor, first: int) -> list[Tensor]:
    return [ids[:, :first], *ids[:, first:].split(1, dim=1)]


@torch.no_grad()
def in_pieces(model: DecoderOnly | EncoderDecoder, batch: Batch, *, first: int) -> Tensor:
    """Our logits, or the last hidden state where there is no head, one piece after another."""
    if isinstance(model, DecoderOnly):
        cache = model.new_cache(capacity=batch.ids_BS.shape[1])
        found = [model.decode(ids, cache=cache) for ids in pieces(batch.ids_BS, first)]
    else:
        encoded = model.encode(batch.ids_BS, source_mask_BS=batch.mask_BS)
        target_ids = batch.target_ids_BT
        assert target_ids is not None
        cache = model.new_cache(capacity=target_ids.shape[1], source_length=batch.ids_BS.shape[1])
        found = [
            model.decode(ids, encoded_BSD=encoded, source_mask_BS=batch.mask_BS, cache=cache)
            for ids in pieces(target_ids, first)
        ]
    hidden = torch.cat(found, dim=1)
    return hidden if model.head is None else model.head(hidden)


@torch.no_grad()
def whole(reference: nn.Module, batch: Batch) -> Tensor:
    mask = None if batch.mask_BS is None else batch.mask_BS.long()
    target = {} if batch.target_ids_BT is None else {"decoder_input_ids": batch.target_ids_BT}
    return last(reference(input_ids=batch.ids_BS, attention_mask=mask, use_cache=False, **target))


@torch.no_grad()
def reference_in_pieces(reference: nn.Module, batch: Batch, first: int) -> Tensor:
    past, found = None, []
    for ids in pieces(batch.ids_BS, first):
        output = reference(input_ids=ids, past_key_values=past, use_cache=True)
        past = output.past_key_values
        found.append(last(output))
    return torch.cat(found, dim=1)


def last(output: Any) -> Tensor:
    return output.logits if "logits" in output else output.last_hidden_state


def test_every_family_that_writes_is_here() -> None:
    def families(cases: list[Case]) -> set[str]:
        return {case.family for case in cases}

    assert families(CASES) - families(WRITING) == {"bert", "distilbert"}
