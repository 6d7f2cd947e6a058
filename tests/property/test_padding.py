"""Padding, on either side and of any amount, never changes a real position."""

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly

Draw = Callable[..., torch.Tensor]


def padded(data: st.DataObject, draw_ids: Draw, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Every row of the ids between junk of drawn amounts on both sides, and where it is real."""
    batch, length = ids.shape
    room = data.draw(st.integers(0, 9), "room")
    wide = draw_ids(data, batch, length + room)
    mask = torch.zeros(batch, length + room, dtype=torch.bool)
    for row in range(batch):
        start = data.draw(st.integers(0, room), "start")
        wide[row, start : start + length] = ids[row]
        mask[row, start : start + length] = True
    return wide, mask


def assert_same(actual: torch.Tensor, mask: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual[mask], expected.flatten(0, 1), rtol=1e-9, atol=1e-9)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_padding_changes_no_real_position_of_an_encoder(
    encoder_only: Callable[[st.DataObject], EncoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_only(data)
    ids = draw_ids(data, 2, data.draw(st.integers(1, 5), "length"))
    wide, mask = padded(data, draw_ids, ids)
    with torch.no_grad():
        assert_same(model(wide, mask_BS=mask).logits, mask, model(ids).logits)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_padding_changes_no_real_position_of_a_decoder(
    decoder_only: Callable[[st.DataObject], DecoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = decoder_only(data)
    ids = draw_ids(data, 2, data.draw(st.integers(1, 5), "length"))
    wide, mask = padded(data, draw_ids, ids)
    with torch.no_grad():
        assert_same(model(wide, mask_BK=mask).logits_BTV, mask, model(ids).logits_BTV)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_padding_of_source_and_target_changes_no_real_position(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_decoder(data)
    source = draw_ids(data, 2, data.draw(st.integers(1, 5), "source length"))
    target = draw_ids(data, 2, data.draw(st.integers(1, 5), "target length"))
    wide_source, source_mask = padded(data, draw_ids, source)
    wide_target, target_mask = padded(data, draw_ids, target)
    with torch.no_grad():
        plain = model(source, target)
        output = model(wide_source, wide_target, source_mask_BS=source_mask, target_mask_BT=target_mask)
    assert_same(output.encoded_BSD, source_mask, plain.encoded_BSD)
    assert_same(output.logits_BTV, target_mask, plain.logits_BTV)
