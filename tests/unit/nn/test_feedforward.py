import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from clearhead.config import Activation, FeedForwardConfig
from clearhead.nn import FeedForward
from clearhead.nn.activation import ACTIVATIONS
from clearhead.probe import Recorder, listen

FORMULAS: dict[Activation, Callable[[Tensor], Tensor]] = {
    Activation.RELU: lambda x: x.clamp(min=0),
    Activation.GELU: lambda x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2))),
    Activation.GELU_TANH: lambda x: x * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    Activation.SILU: lambda x: x / (1 + torch.exp(-x)),
    Activation.TANH: torch.tanh,
}


@pytest.mark.parametrize("activation", Activation)
def test_every_activation_is_its_formula(activation: Activation) -> None:
    x = torch.linspace(-4, 4, 101, dtype=torch.float64)
    torch.testing.assert_close(ACTIVATIONS[activation](x), FORMULAS[activation](x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("activation", Activation)
def test_every_kind_is_its_formula(activation: Activation, gated: bool, bias: bool) -> None:
    network = FeedForward(config=FeedForwardConfig(width=7, activation=activation, gated=gated, bias=bias), width=4)
    x = torch.randn(2, 3, 4)
    bend = FORMULAS[activation]
    hidden = bend(network.gate(x)) * network.up(x) if network.gate else bend(network.up(x))
    recorder = Recorder()
    with listen(recorder):
        output = network(x)
    torch.testing.assert_close(output, network.down(hidden))
    torch.testing.assert_close(recorder["hidden"], hidden)
    assert recorder["output"].equal(output)
    assert list(recorder) == ["hidden", "output"]
    assert (network.gate is not None) == gated
    assert (network.up.bias is not None) == (network.down.bias is not None) == bias


def test_positions_do_not_touch_one_another() -> None:
    network = FeedForward(config=FeedForwardConfig(width=7), width=4)
    x = torch.randn(1, 3, 4)
    other = x.clone()
    other[:, 1] = 9
    assert network(other)[:, [0, 2]].equal(network(x)[:, [0, 2]])


def test_hidden_units_are_dropped_in_training_alone() -> None:
    network = FeedForward(config=FeedForwardConfig(width=64, dropout=0.5), width=4)
    x = torch.randn(1, 1, 4)
    assert not network.train()(x).equal(network(x))
    assert network.eval()(x).equal(network(x))
