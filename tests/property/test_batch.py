"""A batch gives what a loop over its rows gives."""

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import Cell, RecurrentAttention, RecurrentConfig
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, build

Draw = Callable[..., torch.Tensor]


def assert_same(batch: torch.Tensor, rows: list[torch.Tensor]) -> None:
    torch.testing.assert_close(batch, torch.cat(rows), rtol=1e-9, atol=1e-9)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_batch_is_a_loop_for_an_encoder(
    encoder_only: Callable[[st.DataObject], EncoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_only(data)
    ids = draw_ids(data, data.draw(st.integers(2, 3), "batch"), data.draw(st.integers(1, 6), "length"))
    with torch.no_grad():
        assert_same(model(ids).logits, [model(row.unsqueeze(0)).logits for row in ids])


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_batch_is_a_loop_for_a_decoder(
    decoder_only: Callable[[st.DataObject], DecoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = decoder_only(data)
    ids = draw_ids(data, data.draw(st.integers(2, 3), "batch"), data.draw(st.integers(1, 6), "length"))
    with torch.no_grad():
        assert_same(model(ids).logits_BTV, [model(row.unsqueeze(0)).logits_BTV for row in ids])


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_batch_is_a_loop_for_an_encoder_decoder(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_decoder(data)
    batch = data.draw(st.integers(2, 3), "batch")
    source = draw_ids(data, batch, data.draw(st.integers(1, 5), "source length"))
    target = draw_ids(data, batch, data.draw(st.integers(1, 5), "target length"))
    with torch.no_grad():
        rows = [
            model(one.unsqueeze(0), other.unsqueeze(0)).logits_BTV for one, other in zip(source, target, strict=True)
        ]
        assert_same(model(source, target).logits_BTV, rows)


@given(data=st.data(), cell=st.sampled_from(Cell), attention=st.sampled_from(RecurrentAttention))
@settings(max_examples=30, deadline=None)
def test_a_batch_of_different_lengths_is_a_loop_for_a_recurrent_model(
    draw_ids: Draw, data: st.DataObject, cell: Cell, attention: RecurrentAttention
) -> None:
    config = RecurrentConfig(vocab_size=13, width=4, n_layers=2, cell=cell, attention=attention)
    model = build(config, seed=data.draw(st.integers(0, 99), "seed")).double()
    source, target = draw_ids(data, 3, 5), draw_ids(data, 3, 3)
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=3, max_size=3), "lengths")
    mask = torch.tensor([[place < length for place in range(5)] for length in lengths])
    with torch.no_grad():
        rows = [
            model(source[row : row + 1, :length], target[row : row + 1]).logits_BTV
            for row, length in enumerate(lengths)
        ]
        assert_same(model(source, target, source_mask_BS=mask).logits_BTV, rows)
