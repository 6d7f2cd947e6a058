"""Decoding with a cache, in chunks of any size, gives what one pass gives."""

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.models import DecoderOnly, EncoderDecoder
from clearhead.probe import Recorder, listen

Draw = Callable[..., torch.Tensor]


def chunks(data: st.DataObject, length: int) -> list[slice]:
    """A text cut into pieces: token by token, all at once, or anything between."""
    if data.draw(st.booleans(), "token by token"):
        return [slice(place, place + 1) for place in range(length)]
    cuts = sorted(data.draw(st.sets(st.integers(1, length - 1)), "cuts")) if length > 1 else []
    return [slice(start, end) for start, end in zip([0, *cuts], [*cuts, length], strict=True)]


def left_mask(data: st.DataObject, batch: int, length: int) -> torch.Tensor | None:
    """Padding before the text, of another amount in every row; or none."""
    if data.draw(st.booleans(), "unpadded"):
        return None
    starts = data.draw(st.lists(st.integers(0, length - 1), min_size=batch, max_size=batch), "starts")
    return torch.tensor([[place >= start for place in range(length)] for start in starts])


def assert_same(pieces: list[torch.Tensor], whole: torch.Tensor, mask: torch.Tensor | None) -> None:
    real = torch.ones(whole.shape[:2], dtype=torch.bool) if mask is None else mask
    torch.testing.assert_close(torch.cat(pieces, dim=1)[real], whole[real], rtol=1e-9, atol=1e-9)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_decoder_with_a_cache_is_one_without(
    decoder_only: Callable[[st.DataObject], DecoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = decoder_only(data)
    length = data.draw(st.integers(1, 8), "length")
    ids = draw_ids(data, 2, length)
    mask = left_mask(data, 2, length)
    cache = model.new_cache(capacity=length + data.draw(st.integers(0, 3), "room"))
    with torch.no_grad():
        pieces = [
            model(ids[:, piece], mask_BK=None if mask is None else mask[:, : piece.stop], cache=cache).logits_BTV
            for piece in chunks(data, length)
        ]
        assert_same(pieces, model(ids, mask_BK=mask).logits_BTV, mask)
    assert cache.length == length


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_an_encoder_decoder_with_a_cache_is_one_without(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_decoder(data)
    length, source_length = data.draw(st.integers(1, 6), "length"), data.draw(st.integers(1, 5), "source length")
    source, target = draw_ids(data, 2, source_length), draw_ids(data, 2, length)
    source_mask = left_mask(data, 2, source_length)
    mask = left_mask(data, 2, length)
    cache = model.new_cache(capacity=length, source_length=source_length)
    recorder = Recorder("decoder.*.cross.key", "decoder.*.cross.value")
    pieces = chunks(data, length)
    with torch.no_grad():
        encoded = model.encode(source, source_mask_BS=source_mask)
        whole = model.decode(target, encoded_BSD=encoded, source_mask_BS=source_mask, target_mask_BK=mask)
        with listen(recorder):
            hidden = [
                model.decode(
                    target[:, piece],
                    encoded_BSD=encoded,
                    source_mask_BS=source_mask,
                    target_mask_BK=None if mask is None else mask[:, : piece.stop],
                    cache=cache,
                )
                for piece in pieces
            ]
    assert_same(hidden, whole, mask)
    # The source is looked up once a block, however many steps follow.
    assert len(recorder) == 2 * len(model.decoder.blocks)
    assert all(len(values) == 1 for values in recorder.history.values())


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_selecting_rows_of_a_cache_is_selecting_rows_of_the_text(
    decoder_only: Callable[[st.DataObject], DecoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = decoder_only(data)
    past, new = draw_ids(data, 3, 4), draw_ids(data, 2, 1)
    rows = torch.tensor(data.draw(st.lists(st.integers(0, 2), min_size=2, max_size=2), "rows"))
    cache = model.new_cache(capacity=5)
    with torch.no_grad():
        model(past, cache=cache)
        cache.select(rows)
        step = model(new, cache=cache).logits_BTV[:, -1]
        whole = model(torch.cat([past[rows], new], dim=1)).logits_BTV[:, -1]
    torch.testing.assert_close(step, whole, rtol=1e-9, atol=1e-9)
