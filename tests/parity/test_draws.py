"""Draws against the probabilities that the reference's own processors give."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from clearhead.decoding import DecodingSettings, Row, choose
from clearhead.decoding.choose import candidates
from clearhead.decoding.processors import process

DRAWN: dict[str, dict[str, Any]] = {
    "temperature": {"temperature": 0.7},
    "hot": {"temperature": 1.6},
    "top-k": {"top_k": 7},
    "top-p": {"top_p": 0.8},
    "min-p": {"min_p": 0.1},
    "all": {"temperature": 1.3, "top_k": 20, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.4},
}
N_DRAWS = 20_000
# Where draws are right, a test at this level fails one time in a thousand; with a fixed seed, always or never.
LEVEL = 0.001
SEEN = (3, 3, 17, 40, 41)


def random_logits(seed: int) -> Tensor:
    return torch.randn(67, generator=torch.Generator().manual_seed(seed)) * 2


def their_probabilities(logits_V: Tensor, asked: dict[str, Any]) -> Tensor:
    """What the reference would draw by: its own processors, in its own order."""
    from transformers import GenerationConfig, GPT2Config, GPT2LMHeadModel  # noqa: PLC0415

    # Any model knows how to make the processors of a configuration.
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(logits_V), n_embd=4, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0)
    )
    config = GenerationConfig(do_sample=True, **{"top_k": 0} | asked)
    processors = model._get_logits_processor(config, input_ids_seq_length=len(SEEN))
    return processors(torch.tensor([SEEN]), logits_V[None].clone())[0].softmax(-1)


@cache
def our_draws(name: str) -> Tensor:
    logits_V, asked = random_logits(5), DRAWN[name]
    settings = DecodingSettings(sample=True, seed=2024, max_new_tokens=1, **asked)
    process(logits_V, ids=SEEN, n_new=0, n_most=1, settings=settings)  # once, as all rows are alike
    settings = replace(settings, repetition_penalty=1.0)
    rows = [Row(name=n, prompt=SEEN, settings=settings, draw=n) for n in range(N_DRAWS)]
    return torch.tensor([index for index, _ in choose(logits_V.expand(N_DRAWS, -1), rows)])


def likelihood(draws: Tensor, probability_V: Tensor) -> float:
    """The chance of a sample as far from these probabilities as this one (chi-square)."""
    count_V = torch.bincount(draws, minlength=len(probability_V)).double()
    assert not count_V[probability_V == 0].any(), "an id was drawn that cannot be"
    expected_V = probability_V.double() * len(draws)
    often = expected_V >= 5
    counts, expected = count_V[often].tolist(), expected_V[often].tolist()
    if not often.all() and float(expected_V[~often].sum()) > 0:
        counts.append(float(count_V[~often].sum()))
        expected.append(float(expected_V[~often].sum()))
    scale = sum(counts) / sum(expected)
    return float(chisquare(counts, [value * scale for value in expected]).pvalue)


@pytest.mark.parametrize("name", DRAWN)
def test_the_probabilities_of_a_draw_are_the_references(name: str) -> None:
    settings = DecodingSettings(sample=True, max_new_tokens=1, **DRAWN[name])
    for seed in range(20):
        logits_V = random_logits(seed)
        processed_V = logits_V.clone()
        process(processed_V, ids=SEEN, n_new=0, n_most=1, settings=settings)
        ids_BV, score_BV = candidates(processed_V[None], settings)
        ours_V = torch.zeros(67).scatter(0, ids_BV[0], score_BV[0].softmax(-1))
        torch.testing.assert_close(ours_V, their_probabilities(logits_V, DRAWN[name]), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["temperature", "all"])
def test_draws_are_distributed_as_the_references(name: str) -> None:
    assert likelihood(our_draws(name), their_probabilities(random_logits(5), DRAWN[name])) > LEVEL


def test_a_slightly_wrong_temperature_would_be_noticed() -> None:
    wrong = their_probabilities(random_logits(5), {"temperature": 0.75})
    assert likelihood(our_draws("temperature"), wrong) < LEVEL / 10
