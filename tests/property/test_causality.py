"""What comes later never changes what came before."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly
from clearhead.probe import Recorder, listen

EXPLICIT = pytest.mark.parametrize("explicit", [False, True], ids=["fused", "explicit"])


def change_one(data: st.DataObject, ids: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The ids with another token at one place, and the place."""
    place = data.draw(st.integers(1, ids.shape[1] - 1), "place")
    changed = ids.clone()
    changed[:, place] = (changed[:, place] + data.draw(st.integers(1, 12), "shift")) % 13
    return changed, place


def watching(explicit: bool) -> Any:
    return listen(Recorder("*.pattern")) if explicit else nullcontext()


@EXPLICIT
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_token_changes_no_earlier_output_of_a_decoder(
    decoder_only: Callable[[st.DataObject], DecoderOnly],
    draw_ids: Callable[..., torch.Tensor],
    explicit: bool,
    data: st.DataObject,
) -> None:
    model = decoder_only(data)
    ids = draw_ids(data, 2, data.draw(st.integers(2, 7), "length"))
    changed, place = change_one(data, ids)
    with watching(explicit), torch.no_grad():
        before, after = model(ids).logits_BTV, model(changed).logits_BTV
    torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-10)


@EXPLICIT
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_target_token_changes_no_earlier_output(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder],
    draw_ids: Callable[..., torch.Tensor],
    explicit: bool,
    data: st.DataObject,
) -> None:
    model = encoder_decoder(data)
    source = draw_ids(data, 2, data.draw(st.integers(1, 5), "source length"))
    target = draw_ids(data, 2, data.draw(st.integers(2, 6), "target length"))
    changed, place = change_one(data, target)
    with watching(explicit), torch.no_grad():
        before, after = model(source, target).logits_BTV, model(source, changed).logits_BTV
    torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-10)


@EXPLICIT
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_an_encoder_sees_what_comes_later(
    encoder_only: Callable[[st.DataObject], EncoderOnly],
    draw_ids: Callable[..., torch.Tensor],
    explicit: bool,
    data: st.DataObject,
) -> None:
    model = encoder_only(data)
    recorder = Recorder("encoder.0.self.pattern")
    ids = draw_ids(data, 1, 5)
    with watching(explicit), listen(recorder), torch.no_grad():
        model(ids)
    # Whatever is learned, no cell of the pattern is closed; far ones may be tiny.
    assert recorder["encoder.0.self.pattern"].gt(0).all()
