from dataclasses import replace

import pytest
import torch

from clearhead.config import (
    Activation,
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    NormConfig,
    NormPlacement,
    PositionConfig,
    PositionKind,
    StackConfig,
)
from clearhead.nn import Attention, AttentionMask, Block, Source
from clearhead.nn.block import Surroundings
from clearhead.probe import Recorder, listen

WIDTH, HIDDEN, N_HEADS = 12, 20, 3
STACK = StackConfig(
    n_layers=1,
    width=WIDTH,
    embedding=EmbeddingConfig(vocab_size=5),
    position=PositionConfig(kind=PositionKind.NONE),
    attention=AttentionConfig(n_heads=N_HEADS),
    feedforward=FeedForwardConfig(width=HIDDEN, activation=Activation.GELU),
    norm=NormConfig(epsilon=1e-3),
)
PLACEMENTS = {NormPlacement.BEFORE: True, NormPlacement.AFTER: False}
X = torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(1))
SOURCE = torch.randn(2, 7, WIDTH, generator=torch.Generator().manual_seed(2))
REAL = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])


def make(placement: NormPlacement, *, cross: bool) -> Block:
    block = Block(config=replace(STACK, norm=replace(STACK.norm, placement=placement)), cross=cross)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    return block.eval()


def copy_attention(ours: Attention, theirs: torch.nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    assert theirs.in_proj_bias is not None
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@torch.no_grad()
def copy_rest(ours: Block, theirs: torch.nn.TransformerEncoderLayer | torch.nn.TransformerDecoderLayer) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.ffn.up.state_dict())
    theirs.linear2.load_state_dict(ours.ffn.down.state_dict())
    theirs.norm1.load_state_dict(ours.self_norm.state_dict())


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_an_encoder_block_is_that_of_torch(placement: NormPlacement) -> None:
    ours = make(placement, cross=False)
    theirs = torch.nn.TransformerEncoderLayer(
        WIDTH,
        N_HEADS,
        HIDDEN,
        activation="gelu",
        layer_norm_eps=1e-3,
        batch_first=True,
        norm_first=PLACEMENTS[placement],
    )
    copy_rest(ours, theirs)
    theirs.norm2.load_state_dict(ours.ffn_norm.state_dict())
    around = Surroundings(mask=AttentionMask(n_queries=7, n_keys=7, keys=REAL))
    # In training mode, without dropout, torch takes its plain path.
    theirs.dropout.p = theirs.dropout1.p = theirs.dropout2.p = theirs.self_attn.dropout = 0.0
    expected = theirs(SOURCE, src_key_padding_mask=~REAL)
    torch.testing.assert_close(ours(SOURCE, around), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_decoder_block_is_that_of_torch(placement: NormPlacement) -> None:
    ours = make(placement, cross=True)
    theirs = torch.nn.TransformerDecoderLayer(
        WIDTH,
        N_HEADS,
        HIDDEN,
        activation="gelu",
        layer_norm_eps=1e-3,
        batch_first=True,
        norm_first=PLACEMENTS[placement],
    ).eval()
    copy_rest(ours, theirs)
    assert ours.cross_attention is not None
    assert ours.cross_norm is not None
    with torch.no_grad():
        copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.norm2.load_state_dict(ours.cross_norm.state_dict())
    theirs.norm3.load_state_dict(ours.ffn_norm.state_dict())
    source = Source(hidden_BSD=SOURCE, mask=AttentionMask(n_queries=5, n_keys=7, keys=REAL))
    around = Surroundings(mask=AttentionMask(n_queries=5, n_keys=5, causal=True), source=source)
    expected = theirs(X, SOURCE, tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1), memory_key_padding_mask=~REAL)
    torch.testing.assert_close(ours(X, around), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_residual_sites_are_the_stream_between_the_sublayers(placement: NormPlacement) -> None:
    block = make(placement, cross=True)
    source = Source(hidden_BSD=SOURCE, mask=AttentionMask(n_queries=5, n_keys=7))
    recorder = Recorder()
    with listen(recorder):
        x = block(X, Surroundings(mask=AttentionMask(n_queries=5, n_keys=5), source=source))
    assert recorder["resid_pre"].equal(X)
    assert recorder["resid_post"].equal(x)
    stream = ["resid_pre", "resid_mid", "resid_cross", "resid_post"]
    for before, after, part in zip(stream, stream[1:], ["self", "cross", "ffn"], strict=False):
        total = recorder[before] + recorder[f"{part}.output"]
        norm = getattr(block, f"{part}_norm")
        if placement is NormPlacement.BEFORE:
            torch.testing.assert_close(recorder[f"{part}.norm"], norm(recorder[before]))
            torch.testing.assert_close(recorder[after], total)
        else:
            torch.testing.assert_close(recorder[f"{part}.norm"], norm(total))
            assert recorder[after].equal(recorder[f"{part}.norm"])


def test_what_a_sublayer_adds_is_dropped_in_training_alone() -> None:
    block = Block(config=replace(STACK, dropout=0.5), cross=False)
    around = Surroundings(mask=AttentionMask(n_queries=5, n_keys=5))
    assert not block.train()(X, around).equal(block(X, around))
    assert block.eval()(X, around).equal(block(X, around))
