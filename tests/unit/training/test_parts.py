"""The small parts: dropout, averages, the optimiser, the cost of a token."""

from contextlib import suppress
from typing import Any

import pytest
import torch
from torch import nn

from clearhead.config import architecture
from clearhead.errors import WeightsError
from clearhead.models import build
from clearhead.training.average import MovingAverage, mean_of, wearing
from clearhead.training.dropout import ByteDropout, set_dropout
from clearhead.training.flops import cost_of, matmul_peak
from clearhead.training.optimiser import clip, make_optimiser, optimiser_tensors, set_optimiser_tensors
from clearhead.training.seeds import step_seed
from clearhead.training.settings import DropoutSettings, OptimiserSettings

from .specimen import SIZE, VOCAB_SIZE


def network(name: str = "original") -> Any:
    return build(architecture(name, size=SIZE, vocab_size=VOCAB_SIZE), seed=0)


def test_dropout_drops_its_share_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    values = torch.ones(333, 301, requires_grad=True)
    dropped = ByteDropout(0.25)(values)
    assert dropped.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert float((dropped == 0).float().mean()) == pytest.approx(0.25, abs=0.005)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())


def test_dropout_rests_in_evaluation_and_repeats_by_its_seed() -> None:
    values, dropout = torch.randn(5, 7), ByteDropout(0.5)
    torch.manual_seed(1)
    first = dropout(values)
    torch.manual_seed(1)
    assert torch.equal(first, dropout(values))
    assert dropout.eval()(values) is values
    assert ByteDropout(0.0)(values) is values


def test_settings_say_where_is_dropped() -> None:
    model = network()
    set_dropout(model, DropoutSettings(residual=0.3, hidden=0.2, attention=0.1))
    block = model.decoder.blocks[0]
    assert (block.dropout.p, block.ffn.dropout.p, block.cross_attention.dropout) == (0.3, 0.2, 0.1)
    assert model.encoder.embedding.dropout.p == 0.3
    assert all(isinstance(each, ByteDropout) for each in model.modules() if isinstance(each, nn.Dropout))
    set_dropout(model, DropoutSettings(residual=None, hidden=None, attention=None))
    assert (block.dropout.p, block.ffn.dropout.p, block.cross_attention.dropout) == (0.3, 0.2, 0.1)


def test_a_moving_average_follows_its_formula() -> None:
    model = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(0.0)
    average, expected = MovingAverage(network=model, decay=0.5), 0.0
    for step in range(1, 30):
        with torch.no_grad():
            model.weight.fill_(float(step))
        average.update(step)
        expected += (1 - min(0.5, (1 + step) / (10 + step))) * (step - expected)
    assert float(average.tensors["weight"]) == pytest.approx(expected)


def test_borrowed_weights_are_given_back_to_the_bit() -> None:
    model = network()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    other = {name: torch.zeros_like(parameter) for name, parameter in before.items()}
    with suppress(RuntimeError), wearing(model, other):
        assert not any(parameter.any() for parameter in model.parameters())
        raise RuntimeError
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())


def test_the_mean_of_weights() -> None:
    mean = mean_of([{"a": torch.tensor([1.0, 2.0])}, {"a": torch.tensor([3.0, 6.0])}])
    assert mean["a"].tolist() == [2.0, 4.0]


def test_weight_decay_pulls_at_matrices_alone() -> None:
    groups = make_optimiser(network(), settings=OptimiserSettings(weight_decay=0.5), lr=1.0).param_groups
    found = {parameter.ndim >= 2: group["weight_decay"] for group in groups for parameter in group["params"]}
    assert found == {True: 0.5, False: 0.0}


def test_an_optimiser_goes_on_to_the_bit() -> None:
    def step(model: nn.Module, optimiser: torch.optim.Optimizer, number: int) -> None:
        torch.manual_seed(number)
        for parameter in model.parameters():
            parameter.grad = torch.randn_like(parameter)
        optimiser.step()

    model = network()
    optimiser = make_optimiser(model, settings=OptimiserSettings(), lr=0.01)
    for number in range(3):
        step(model, optimiser, number)
    twin = network()
    twin.set_parameters({name: parameter.detach() for name, parameter in model.named_parameters()})
    follower = make_optimiser(twin, settings=OptimiserSettings(), lr=0.01)
    saved = {name: tensor.clone() for name, tensor in optimiser_tensors(optimiser, model).items()}
    set_optimiser_tensors(follower, twin, saved)
    for number in range(3, 6):
        step(model, optimiser, number)
        step(twin, follower, number)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True))


def test_what_another_model_remembered_is_refused() -> None:
    model = network()
    optimiser = make_optimiser(model, settings=OptimiserSettings(), lr=0.01)
    with pytest.raises(WeightsError, match="does not fit"):
        set_optimiser_tensors(optimiser, model, {"nothing:exp_avg": torch.zeros(2)})


@pytest.mark.parametrize(("longest", "left"), [(2.5, 2.5), (None, 5.0), (10.0, 5.0)])
def test_a_long_gradient_is_shortened(longest: float | None, left: float) -> None:
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([3.0, 4.0])
    assert clip([parameter], longest=longest) == pytest.approx(5.0)
    assert float(parameter.grad.norm()) == pytest.approx(left, rel=1e-5)


def test_seeds_of_steps_and_processes_differ() -> None:
    seeds = {step_seed(seed, step=step, rank=rank) for seed in (0, 1) for step in range(100) for rank in (0, 1)}
    assert len(seeds) == 400
    assert step_seed(5, step=6) == step_seed(5, step=6, rank=0)


def test_what_a_token_costs_follows_from_the_matrices() -> None:
    width, hidden = SIZE.width, SIZE.feedforward_width
    attention, ffn, table = 4 * width**2, 2 * width * hidden, VOCAB_SIZE * width
    cost = cost_of(network("original"))
    assert cost.source_numbers == attention + ffn + 2 * width**2
    assert cost.target_numbers == attention + ffn + 2 * width**2 + table
    assert cost_of(network("gpt2")).target_numbers == attention + ffn + table
    assert cost_of(network("bert")).source_numbers == attention + ffn
    flops = cost_of(network("gpt2")).flops(n_source=0, n_target=30, n_rows=3)
    assert flops == 6 * 30 * (attention + ffn + table) + 12 * 30 * 10 / 2 * width


def test_the_machine_has_a_peak() -> None:
    assert matmul_peak() > 1e8
    assert matmul_peak() == matmul_peak()
