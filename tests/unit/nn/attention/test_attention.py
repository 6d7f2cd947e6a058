from dataclasses import replace

import pytest
import torch
from torch import Tensor

from clearhead.config import AttentionConfig, ScorerKind
from clearhead.nn import Attention, AttentionMask, KeyValueCache
from clearhead.probe import Edit, Recorder, listen

WIDTH, N_HEADS = 12, 3
CONFIG = AttentionConfig(n_heads=N_HEADS)
SITES = ["query", "key", "value", "score", "pattern", "mixed", "output"]


def make(config: AttentionConfig = CONFIG, head_width: int = WIDTH // N_HEADS, seed: int = 0) -> Attention:
    attention = Attention(config=config, width=WIDTH, head_width=head_width)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return attention.eval()


def states(length: int, seed: int = 0, batch: int = 2) -> Tensor:
    return torch.randn(batch, length, WIDTH, generator=torch.Generator().manual_seed(seed))


def torch_attention(ours: Attention) -> torch.nn.MultiheadAttention:
    theirs = torch.nn.MultiheadAttention(WIDTH, N_HEADS, batch_first=True).eval()
    parts = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.out_proj.load_state_dict(ours.output.state_dict())
    return theirs


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kind", ["self", "masked", "cross"])
@pytest.mark.parametrize("seen", [False, True], ids=["fused", "explicit"])
def test_output_and_pattern_of_every_head_are_those_of_torch(kind: str, padded: bool, seen: bool) -> None:
    ours = make()
    x = states(5)
    source = states(7, seed=1) if kind == "cross" else x
    keys = torch.ones(2, source.shape[1], dtype=torch.bool)
    if padded:
        keys[0, 3:] = False
    mask = AttentionMask(n_queries=5, n_keys=source.shape[1], causal=kind == "masked", keys=keys if padded else None)
    expected, expected_pattern = torch_attention(ours)(
        x,
        source,
        source,
        key_padding_mask=~keys if padded else None,
        attn_mask=torch.ones(5, 5, dtype=torch.bool).triu(1) if kind == "masked" else None,
        average_attn_weights=False,
    )
    recorder = Recorder() if seen else Recorder("output")
    with listen(recorder):
        output = ours(x, source, mask=mask)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    if seen:
        assert list(recorder) == SITES
        torch.testing.assert_close(recorder["pattern"], expected_pattern, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("n_kv_heads", [1, 2])
@pytest.mark.parametrize("seen", [False, True], ids=["fused", "explicit"])
def test_grouped_heads_are_repeated_heads(n_kv_heads: int, seen: bool) -> None:
    grouped = make(AttentionConfig(n_heads=4, n_kv_heads=n_kv_heads), head_width=3)
    full = make(AttentionConfig(n_heads=4), head_width=3)
    with torch.no_grad():
        for name in ("query", "output"):
            getattr(full, name).load_state_dict(getattr(grouped, name).state_dict())
        for name in ("key", "value"):
            few, many = getattr(grouped, name), getattr(full, name)
            many.weight.copy_(
                few.weight.view(n_kv_heads, 3, WIDTH).repeat_interleave(4 // n_kv_heads, 0).view(12, WIDTH)
            )
            many.bias.copy_(few.bias.view(n_kv_heads, 3).repeat_interleave(4 // n_kv_heads, 0).view(12))
    x = states(5)
    mask = AttentionMask(n_queries=5, n_keys=5, causal=True)
    recorder = Recorder() if seen else Recorder("key")
    with listen(recorder):
        output = grouped(x, x, mask=mask)
    torch.testing.assert_close(output, full(x, x, mask=mask), atol=1e-5, rtol=1e-5)
    assert recorder["key"].shape == (2, n_kv_heads, 5, 3)


def test_a_head_may_be_wider_than_its_share() -> None:
    attention = make(head_width=7)
    x = states(4)
    recorder = Recorder("query")
    with listen(recorder):
        assert attention(x, x, mask=AttentionMask(n_queries=4, n_keys=4)).shape == x.shape
    assert recorder["query"].shape == (2, N_HEADS, 4, 7)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("output_bias", [True, False])
def test_biases_are_where_the_configuration_says(bias: bool, output_bias: bool) -> None:
    attention = make(replace(CONFIG, bias=bias, output_bias=output_bias))
    for part in (attention.query, attention.key, attention.value):
        assert (part.bias is not None) == bias
    assert (attention.output.bias is not None) == output_bias


@pytest.mark.parametrize("scorer", ScorerKind)
def test_every_scorer_makes_patterns(scorer: ScorerKind) -> None:
    attention = make(replace(CONFIG, scorer=scorer))
    x = states(4)
    recorder = Recorder()
    with listen(recorder):
        attention(x, x, mask=AttentionMask(n_queries=4, n_keys=4, causal=True))
    torch.testing.assert_close(recorder["score"], attention.scorer(recorder["query"], recorder["key"]))
    torch.testing.assert_close(recorder["pattern"].sum(-1), torch.ones(2, N_HEADS, 4))


def test_the_score_carries_the_position_bias_and_no_mask() -> None:
    attention = make()
    x, bias = states(4), torch.randn(1, N_HEADS, 4, 4)
    recorder = Recorder()
    with listen(recorder):
        attention(x, x, mask=AttentionMask(n_queries=4, n_keys=4, causal=True), bias_1HQK=bias)
    plain = attention.scorer(recorder["query"], recorder["key"])
    torch.testing.assert_close(recorder["score"], plain + bias)
    expected = recorder["score"].masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    torch.testing.assert_close(recorder["pattern"], expected)


def test_an_edited_pattern_mixes_what_it_says() -> None:
    attention = make()
    x = states(4)
    recorder = Recorder("value", "mixed")
    looks_at_first = torch.zeros(2, N_HEADS, 4, 4)
    looks_at_first[..., 0] = 1
    with listen(Edit("pattern", lambda _: looks_at_first), recorder):
        attention(x, x, mask=AttentionMask(n_queries=4, n_keys=4))
    assert recorder["mixed"].equal(recorder["value"][:, :, :1].expand(-1, -1, 4, -1))


def test_an_edited_score_is_seen_by_the_pattern() -> None:
    attention = make()
    x = states(4)
    recorder = Recorder("pattern")
    with listen(Edit("score", torch.zeros_like), recorder):
        attention(x, x, mask=AttentionMask(n_queries=4, n_keys=4))
    assert recorder["pattern"].eq(0.25).all()


@pytest.mark.parametrize("site", ["query", "key", "value", "mixed", "output"])
def test_sites_that_the_fused_kernel_does_not_hide_can_be_edited_beside_it(site: str) -> None:
    attention = make()
    x = states(4)
    mask = AttentionMask(n_queries=4, n_keys=4)
    before = attention(x, x, mask=mask)
    with listen(Edit(site, torch.zeros_like)):
        fused = attention(x, x, mask=mask)
    with listen(Edit(site, torch.zeros_like), Recorder("pattern")):
        explicit = attention(x, x, mask=mask)
    assert not torch.allclose(fused, before, atol=1e-3)
    torch.testing.assert_close(fused, explicit)


def test_a_cached_source_is_looked_up_once() -> None:
    attention = make()
    source = states(6, seed=1)
    cache = KeyValueCache(capacity=6)
    mask = AttentionMask(n_queries=2, n_keys=6)
    recorder = Recorder("key", "value", "output")
    with listen(recorder):
        for seed in range(3):
            x = states(2, seed=seed)
            cached = attention(x, source, mask=mask, cache=cache)
            torch.testing.assert_close(cached, attention(x, source, mask=mask))
    # Once for the cache, and once for each pass without it.
    assert len(recorder.history["key"]) == len(recorder.history["value"]) == 1 + 3
    assert cache.length == 6


def test_the_pattern_is_dropped_in_training_alone() -> None:
    attention = make(replace(CONFIG, dropout=0.5))
    x = states(6)
    mask = AttentionMask(n_queries=6, n_keys=6)
    assert attention(x, x, mask=mask).equal(attention(x, x, mask=mask))
    attention.train()
    assert not attention(x, x, mask=mask).equal(attention(x, x, mask=mask))
    recorder = Recorder("pattern", "mixed", "value")
    with listen(recorder):
        attention(x, x, mask=mask)
    assert not torch.allclose(recorder["mixed"], recorder["pattern"] @ recorder["value"])


def test_the_worked_example_of_the_cat_that_sleeps() -> None:
    x = torch.tensor([[[0.1, 0, 0.3, 0.7], [0.4, 0.1, 0.2, 0.6], [0.8, 0.2, 0.1, 0.5]]])
    attention = Attention(config=AttentionConfig(n_heads=1, bias=False, output_bias=False), width=4, head_width=4)
    for part in (attention.query, attention.key, attention.value, attention.output):
        torch.nn.init.eye_(part.weight)
    recorder = Recorder()
    with listen(recorder):
        output = attention(x, x, mask=AttentionMask(n_queries=3, n_keys=3, causal=True))
    score = [[0.295, 0.260, 0.230], [0.260, 0.285, 0.330], [0.230, 0.330, 0.470]]
    pattern = [[1, 0, 0], [0.4938, 0.5062, 0], [0.2962, 0.3273, 0.3765]]
    mixed = [[0.1, 0, 0.3, 0.7], [0.2519, 0.0506, 0.2494, 0.6494], [0.4618, 0.1080, 0.1920, 0.5920]]
    torch.testing.assert_close(recorder["score"][0, 0], torch.tensor(score))
    torch.testing.assert_close(recorder["pattern"][0, 0], torch.tensor(pattern), atol=6e-5, rtol=0)
    torch.testing.assert_close(output[0], torch.tensor(mixed), atol=6e-5, rtol=0)
