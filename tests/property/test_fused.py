"""The fused kernel and the steps that can be seen give the same numbers."""

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import ScorerKind
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly
from clearhead.nn import AttentionMask, attend, make_scorer
from clearhead.probe import Recorder, listen

Draw = Callable[..., torch.Tensor]


def masks(data: st.DataObject, batch: int, length: int) -> torch.Tensor | None:
    """Any mask, also one that closes a whole row."""
    cells = st.lists(st.booleans(), min_size=batch * length, max_size=batch * length)
    drawn = data.draw(st.none() | cells, "mask")
    return None if drawn is None else torch.tensor(drawn).view(batch, length)


def assert_same(run: Callable[[], torch.Tensor]) -> None:
    """Runs unseen and seen, in the precision that models are used in."""
    recorder = Recorder("*pattern")
    with torch.no_grad():
        fused = run()
        with listen(recorder):
            explicit = run()
    assert len(recorder) > 0
    scale = max(1.0, explicit.abs().max().item())
    torch.testing.assert_close(fused, explicit, rtol=0, atol=1e-5 * scale)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_an_encoder_is_the_same_seen_and_unseen(
    encoder_only: Callable[[st.DataObject], EncoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_only(data)
    length = data.draw(st.integers(1, 6), "length")
    ids, mask = draw_ids(data, 2, length), masks(data, 2, length)
    assert_same(lambda: model(ids, mask_BS=mask).logits)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_decoder_is_the_same_seen_and_unseen(
    decoder_only: Callable[[st.DataObject], DecoderOnly], draw_ids: Draw, data: st.DataObject
) -> None:
    model = decoder_only(data)
    length = data.draw(st.integers(1, 6), "length")
    ids, mask = draw_ids(data, 2, length), masks(data, 2, length)
    assert_same(lambda: model(ids, mask_BK=mask).logits_BTV)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_an_encoder_decoder_is_the_same_seen_and_unseen(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder], draw_ids: Draw, data: st.DataObject
) -> None:
    model = encoder_decoder(data)
    length, source_length = data.draw(st.integers(1, 5), "length"), data.draw(st.integers(1, 5), "source length")
    source, target = draw_ids(data, 2, source_length), draw_ids(data, 2, length)
    source_mask, target_mask = masks(data, 2, source_length), masks(data, 2, length)
    assert_same(lambda: model(source, target, source_mask_BS=source_mask, target_mask_BT=target_mask).logits_BTV)


@given(
    data=st.data(),
    seed=st.integers(0, 999),
    n_keys=st.integers(1, 6),
    groups=st.sampled_from([1, 2, 4]),
    causal=st.booleans(),
    biased=st.booleans(),
    kind=st.sampled_from([ScorerKind.DOT, ScorerKind.SCALED_DOT]),
)
@settings(max_examples=50, deadline=None)
def test_attention_is_the_same_seen_and_unseen_in_single_precision(
    data: st.DataObject, seed: int, n_keys: int, groups: int, causal: bool, biased: bool, kind: ScorerKind
) -> None:
    n_queries = data.draw(st.integers(1, n_keys), "queries")
    keys = masks(data, 2, n_keys)
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(2, 4, n_queries, 3, generator=generator)
    key, value = (torch.randn(2, groups, n_keys, 3, generator=generator) for _ in range(2))
    bias = torch.randn(1, 4, n_queries, n_keys, generator=generator) if biased else None
    scorer = make_scorer(kind, n_heads=4, head_width=3)
    mask = AttentionMask(n_queries=n_queries, n_keys=n_keys, causal=causal, keys=keys)
    assert_same(lambda: attend(query, key, value, scorer=scorer, mask=mask, bias_1HQK=bias))
