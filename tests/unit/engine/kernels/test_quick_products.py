"""Products of layers that learn: the usual ones, with the usual gradients, and no row depends on another."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from clearhead.engine.kernels.quick_products import QuickProducts, quick_products
from clearhead.nn import product
from clearhead.nn.product import Linear, multiplied_by, taken_by
from clearhead.training.loss import vocabulary_cross_entropy

GENERATOR = torch.Generator().manual_seed(0)
SHAPES = [(16, 16), (48, 16), (16, 80), (96, 112), (32, 1024), (1024, 48)]
ROWS = [1, 5, 12, 23, 300]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(product, "_LARGE", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def by() -> QuickProducts:
    found = quick_products()
    assert found is not None
    return found


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=GENERATOR)


def near(found: Tensor, wanted: Tensor) -> None:
    found, wanted = found.detach(), wanted.detach()
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5 * max(1.0, float(wanted.abs().max())))


@pytest.mark.parametrize(("n_inputs", "n_outputs"), SHAPES)
@pytest.mark.parametrize("n_rows", ROWS)
@pytest.mark.parametrize("has_bias", [True, False])
def test_values_and_gradients_are_those_of_the_usual_product(
    by: QuickProducts, n_inputs: int, n_outputs: int, n_rows: int, has_bias: bool
) -> None:
    x, weight = random(n_rows, n_inputs).requires_grad_(), random(n_outputs, n_inputs).requires_grad_()
    bias = random(n_outputs).requires_grad_() if has_bias else None
    asked = [each for each in (x, weight, bias) if each is not None]
    to_y = random(n_rows, n_outputs)
    usual = functional.linear(x, weight, bias)
    with multiplied_by(by):
        assert taken_by(x, weight) is by
        found = product.product(x, weight, bias)
        gradients = torch.autograd.grad(found, asked, to_y)
    near(found, usual)
    for ours, theirs in zip(gradients, torch.autograd.grad(usual, asked, to_y), strict=True):
        near(ours, theirs)


def test_rows_that_lie_apart_and_gradients_that_are_all_alike(by: QuickProducts) -> None:
    wide, layer = random(40, 64), Linear(32, 48)
    with multiplied_by(by):
        for x in (wide[:, 16:48], wide[::2, :32], random(32, 24).T):
            near(layer(x), functional.linear(x, layer.weight, layer.bias))
            layer.zero_grad()
            layer(x).sum().backward()  # one number for all, which lies in memory once
            assert layer.weight.grad is not None and layer.bias.grad is not None
            near(layer.weight.grad, x.sum(0).expand(48, 32))
            near(layer.bias.grad, torch.full((48,), float(len(x))))
        turned = torch.nn.Parameter(random(32, 48).T)
        near(product.product(wide[:, :32], turned), functional.linear(wide[:, :32], turned))
        (gradient,) = torch.autograd.grad(product.product(wide[:, :32], turned).sum(), turned)
        near(gradient, wide[:, :32].sum(0).expand(48, 32))


def test_what_is_frozen_gets_no_gradient_and_what_comes_out_may_be_changed(by: QuickProducts) -> None:
    layer, x = Linear(16, 32), random(9, 16).requires_grad_()
    layer.weight.requires_grad_(False)
    with multiplied_by(by):
        layer(x).mul_(2).sum().backward()
    assert layer.weight.grad is None and x.grad is not None and layer.bias.grad is not None
    near(x.grad, 2 * layer.weight.sum(0).expand(9, 16))
    near(layer.bias.grad, torch.full((32,), 18.0))


def test_a_row_is_the_same_alone_and_in_company(by: QuickProducts) -> None:
    x, weight, to_y = random(130, 2000 // 16 * 16), random(48, 2000 // 16 * 16), random(130, 48)
    whole, back = by.forwards(x, weight, None), by.to_rows(to_y, weight)
    for row in range(0, 130, 13):
        assert by.forwards(x[row : row + 1], weight, None).equal(whole[row : row + 1])
        assert by.to_rows(to_y[row : row + 1], weight).equal(back[row : row + 1])


def test_what_is_no_number_stays_none_and_spoils_no_other_row(by: QuickProducts) -> None:
    x, weight = random(30, 32), random(16, 32)
    x[7, 3], x[8, 4] = torch.nan, torch.inf
    found, usual = by.forwards(x, weight, None), functional.linear(x, weight)
    assert found[7].isnan().all() and not found[8].isfinite().any()
    near(found[9:], usual[9:])


def test_other_sizes_other_numbers_and_threads_that_share_go_the_usual_way(by: QuickProducts) -> None:
    weight = random(32, 48)
    with multiplied_by(by):
        assert taken_by(random(5, 48), weight) is by
        assert taken_by(random(5, 40), random(32, 40)) is None
        assert taken_by(random(5, 48), random(40, 48)) is None
        assert taken_by(random(5, 48).double(), weight.double()) is None
        torch.set_num_threads(2)
        assert taken_by(random(5, 48), weight) is None
    assert taken_by(random(5, 48), weight) is None


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("has_bias", [True, False])
def test_the_loss_over_a_vocabulary_is_the_usual_one(by: QuickProducts, smoothing: float, has_bias: bool) -> None:
    hidden, weight = random(700, 32).requires_grad_(), random(160, 32).requires_grad_()
    bias = random(160).requires_grad_() if has_bias else None
    labels = torch.randint(0, 160, (700,), generator=GENERATOR)
    asked: list[Any] = [each for each in (hidden, weight, bias) if each is not None]

    def gradients() -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        loss, n_right = vocabulary_cross_entropy(hidden, labels, weight_VD=weight, bias_V=bias, smoothing=smoothing)
        return loss, n_right, torch.autograd.grad(loss, asked)

    usual, n_usual, wanted = gradients()
    with multiplied_by(by):
        loss, n_right, found = gradients()
    near(loss, usual)
    assert n_right == n_usual
    for ours, theirs in zip(found, wanted, strict=True):
        near(ours, theirs)
