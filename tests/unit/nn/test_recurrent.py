from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import Cell, RecurrentAttention, RecurrentConfig
from clearhead.errors import TextError
from clearhead.nn import RecurrentDecoder, RecurrentEncoder
from clearhead.nn.initialise import initialise
from clearhead.probe import Recorder, listen, scope

WIDTH = 6


def config(cell: Cell = Cell.GRU, attention: RecurrentAttention = RecurrentAttention.ADDITIVE) -> RecurrentConfig:
    return RecurrentConfig(vocab_size=9, width=WIDTH, n_layers=2, cell=cell, attention=attention)


Module = TypeVar("Module", bound=torch.nn.Module)


def made(module: Module, seed: int = 0) -> Module:
    torch.manual_seed(seed)
    initialise(module)
    return module.double().eval()


def states(batch: int, length: int, seed: int) -> torch.Tensor:
    return torch.randn(batch, length, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("cell", Cell)
@given(length=st.integers(1, 5), padding=st.integers(0, 4), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_padding_at_the_end_changes_no_state_in_either_direction(
    cell: Cell, length: int, padding: int, seed: int
) -> None:
    encoder = made(RecurrentEncoder(config=config(cell)), seed)
    x = states(2, length, seed)
    real = torch.ones(2, length, dtype=torch.bool)
    junk = states(2, padding, seed + 1) * 100
    hidden = encoder(torch.cat([x, junk], 1), torch.cat([real, torch.zeros(2, padding, dtype=torch.bool)], 1))
    torch.testing.assert_close(hidden[:, :length], encoder(x, real))
    assert hidden[:, length:].eq(0).all()


@pytest.mark.parametrize("cell", Cell)
def test_each_direction_has_half_the_width(cell: Cell) -> None:
    x = states(1, 4, 0)
    other = x.clone()
    other[:, 3] += 1
    real = torch.ones(1, 4, dtype=torch.bool)
    encoder = made(RecurrentEncoder(config=RecurrentConfig(vocab_size=9, width=WIDTH, cell=cell)))
    before, after = encoder(x, real), encoder(other, real)
    assert before[:, 0, : WIDTH // 2].equal(after[:, 0, : WIDTH // 2])
    assert not torch.allclose(before[:, 0, WIDTH // 2 :], after[:, 0, WIDTH // 2 :])


@pytest.mark.parametrize("mask", [[False, True, True], [True, False, True], [False, False, False]])
def test_padding_elsewhere_and_empty_sources_are_refused(mask: list[bool]) -> None:
    with pytest.raises(TextError) as caught:
        made(RecurrentEncoder(config=config()))(states(1, 3, 0), torch.tensor([mask]))
    assert caught.value.got
    assert caught.value.expected


@pytest.mark.parametrize("cell", Cell)
@pytest.mark.parametrize("attention", RecurrentAttention)
def test_source_padding_changes_no_target_state(cell: Cell, attention: RecurrentAttention) -> None:
    decoder = made(RecurrentDecoder(config=config(cell, attention)))
    target, source = states(2, 4, 0), states(2, 3, 1)
    junk = states(2, 2, 2) * 100
    plain = decoder(target, source_BSD=source, mask_BS=torch.ones(2, 3, dtype=torch.bool))
    padded = decoder(
        target,
        source_BSD=torch.cat([source, junk], 1),
        mask_BS=torch.tensor([[True, True, True, False, False]] * 2),
    )
    torch.testing.assert_close(padded, plain)


@pytest.mark.parametrize("cell", Cell)
@pytest.mark.parametrize("attention", RecurrentAttention)
def test_a_state_depends_on_its_own_past_alone(cell: Cell, attention: RecurrentAttention) -> None:
    decoder = made(RecurrentDecoder(config=config(cell, attention)))
    source, real = states(1, 3, 1), torch.ones(1, 3, dtype=torch.bool)
    target = states(1, 4, 0)
    other = target.clone()
    other[:, 2] += 1
    before = decoder(target, source_BSD=source, mask_BS=real)
    after = decoder(other, source_BSD=source, mask_BS=real)
    torch.testing.assert_close(after[:, :2], before[:, :2], rtol=0, atol=1e-12)
    assert not torch.allclose(after[:, 2], before[:, 2])
    assert not torch.allclose(after[:, 3], before[:, 3])


def test_without_attention_only_the_ends_of_the_source_count() -> None:
    real = torch.ones(1, 4, dtype=torch.bool)
    source = states(1, 4, 1)
    other = source.clone()
    other[:, 1:3] += 1
    target = states(1, 2, 0)
    blind = made(RecurrentDecoder(config=config(attention=RecurrentAttention.NONE)))
    assert blind(target, source_BSD=source, mask_BS=real).equal(blind(target, source_BSD=other, mask_BS=real))
    last = source.clone()
    last[:, 3] += 1
    assert not torch.allclose(
        blind(target, source_BSD=source, mask_BS=real), blind(target, source_BSD=last, mask_BS=real)
    )
    state = blind.begin(source, real)
    shown = replace(state, summary_BD=state.summary_BD + 1)  # seen at every position, beside the state
    assert not torch.allclose(blind.step(target[:, 0], state)[0], blind.step(target[:, 0], shown)[0])
    looking = made(RecurrentDecoder(config=config(attention=RecurrentAttention.ADDITIVE)))
    assert not torch.allclose(
        looking(target, source_BSD=source, mask_BS=real), looking(target, source_BSD=other, mask_BS=real)
    )


@pytest.mark.parametrize("attention", [RecurrentAttention.ADDITIVE, RecurrentAttention.DOT])
def test_attention_is_heard_once_a_target_position_and_scores_as_its_kind_says(attention: RecurrentAttention) -> None:
    decoder = made(RecurrentDecoder(config=config(attention=attention)))
    source, real = states(2, 3, 1), torch.tensor([[True, True, True], [True, True, False]])
    recorder = Recorder()
    with listen(recorder), scope("decoder"):
        decoder(states(2, 4, 0), source_BSD=source, mask_BS=real)
    assert decoder.key is not None
    key = recorder["decoder.cross.key"]
    assert key[:, 0].equal(decoder.key(source))
    assert len(recorder.history["decoder.cross.key"]) == 1
    patterns = recorder.history["decoder.cross.pattern"]
    assert len(patterns) == 4
    for query, score, pattern in zip(
        recorder.history["decoder.cross.query"], recorder.history["decoder.cross.score"], patterns, strict=True
    ):
        if attention is RecurrentAttention.DOT:
            expected = (query * key).sum(-1)
        else:
            expected = (torch.tanh(query + key) * decoder.scorer.weight[0]).sum(-1)
        torch.testing.assert_close(score[:, 0, 0], expected[:, 0])
        torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 1, 1, dtype=torch.float64))
        assert pattern[1, 0, 0, 2] == 0
