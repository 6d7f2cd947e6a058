import math

import pytest
import torch

from clearhead.config import ScorerKind
from clearhead.nn import AdditiveScorer, DotScorer, make_scorer

QUERY = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
KEY = torch.randn(2, 3, 6, 5, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("kind", "scale"), [(ScorerKind.SCALED_DOT, 1 / math.sqrt(5)), (ScorerKind.DOT, 1.0)])
def test_a_dot_scorer_multiplies_and_scales_every_pair(kind: ScorerKind, scale: float) -> None:
    score = make_scorer(kind, n_heads=3, head_width=5)(QUERY, KEY)
    for query in range(4):
        for key in range(6):
            expected = (QUERY[:, :, query] * KEY[:, :, key]).sum(-1) * scale
            torch.testing.assert_close(score[:, :, query, key], expected)


def test_an_additive_scorer_asks_its_network_about_every_pair() -> None:
    scorer = make_scorer(ScorerKind.ADDITIVE, n_heads=3, head_width=5)
    assert isinstance(scorer, AdditiveScorer)
    with torch.no_grad():
        scorer.weight.copy_(torch.randn(3, 5))
    score = scorer(QUERY, KEY)
    for head in range(3):
        for query in range(4):
            for key in range(6):
                hidden = torch.tanh(QUERY[:, head, query] + KEY[:, head, key])
                torch.testing.assert_close(score[:, head, query, key], hidden @ scorer.weight[head])


def test_the_worked_example_of_the_cat_that_looks_around() -> None:
    words = torch.tensor(
        [
            [1, 0, 0, 1, 0, 0, 1],
            [0, 1, 0, 1, 1, 0, 0],
            [0, 0, 1, 0, 1, 1, 0],
            [1, 0, 1, 0, 0, 1, 0],
            [1, 0, 0, 1, 0, 0, 1],
            [0, 1, 1, 0, 0, 1, 0.0],
        ]
    )
    score = DotScorer()(words[None, None, 1:2], words[None, None])[0, 0, 0]
    assert score.tolist() == [1, 3, 1, 0, 1, 1]
    pattern = score.softmax(-1)
    assert pattern.tolist() == pytest.approx([0.0851, 0.6285, 0.0851, 0.0313, 0.0851, 0.0851], abs=6e-5)
    mixed = [0.2014, 0.7135, 0.2014, 0.7986, 0.7135, 0.2014, 0.1701]
    assert (pattern @ words).tolist() == pytest.approx(mixed, abs=6e-5)
