from typing import TypeVar

import pytest
import torch

from clearhead.config import NormConfig, NormKind
from clearhead.nn import BatchNorm, LayerNorm, RMSNorm, make_norm

SENTENCES = torch.tensor([[2, 3, 7, 5, 4], [1, 1, 2, 3, 4], [5, 4, 1, 2, 3], [6, 1, 7, 5, 6], [7, 1, 3, 3, 4.0]])


Module = TypeVar("Module", bound=torch.nn.Module)


def randomised(module: Module) -> Module:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return module


@pytest.mark.parametrize("epsilon", [1e-12, 1e-5, 0.3])
def test_layer_norm_is_that_of_torch(epsilon: float) -> None:
    ours, theirs = randomised(LayerNorm(width=6, epsilon=epsilon)), torch.nn.LayerNorm(6, eps=epsilon)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 3, 6)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("epsilon", [1e-12, 1e-5, 0.3])
def test_rms_norm_is_that_of_torch(epsilon: float) -> None:
    ours, theirs = randomised(RMSNorm(width=6, epsilon=epsilon)), torch.nn.RMSNorm(6, eps=epsilon)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 3, 6)
    torch.testing.assert_close(ours(x), theirs(x))


def test_batch_norm_is_that_of_torch_in_training() -> None:
    ours, theirs = (
        randomised(BatchNorm(width=6, epsilon=0.1)),
        torch.nn.BatchNorm1d(6, eps=0.1, track_running_stats=False),
    )
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(5, 6)
    torch.testing.assert_close(ours(x), theirs(x))


def test_the_worked_example_of_five_sentences() -> None:
    layer = LayerNorm(width=5, epsilon=1e-12)(SENTENCES)
    batch = BatchNorm(width=5, epsilon=1e-12)(SENTENCES)
    assert layer[0].tolist() == pytest.approx([-1.2787, -0.6975, 1.6275, 0.4650, -0.1162], abs=5.1e-5)
    assert batch[:, 0].tolist() == pytest.approx([-0.9503, -1.3822, 0.3455, 0.7775, 1.2094], abs=5.1e-5)


def test_padding_moves_a_batch_norm_and_not_a_layer_norm() -> None:
    padded = torch.cat([SENTENCES, torch.zeros(100, 5)])
    assert LayerNorm(width=5)(padded)[:5].equal(LayerNorm(width=5)(SENTENCES))
    assert not torch.allclose(BatchNorm(width=5)(padded)[:5], BatchNorm(width=5)(SENTENCES), atol=0.1)


@pytest.mark.parametrize(("kind", "made"), [(NormKind.LAYER, LayerNorm), (NormKind.RMS, RMSNorm)])
def test_a_configuration_makes_its_norm(kind: NormKind, made: type) -> None:
    norm = make_norm(NormConfig(kind=kind, epsilon=0.25), width=3)
    assert type(norm) is made
    assert norm.epsilon == 0.25
    assert norm.weight.shape == (3,)
