"""Products by oneDNN: the usual ones, with the usual gradients, and only where they pay."""

import pytest
import torch
from torch.nn import functional

from clearhead.nn import product
from clearhead.nn.product import Linear

GENERATOR = torch.Generator().manual_seed(0)

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "_is_quicker_here", lambda: True)
    monkeypatch.setattr(product, "_LARGE", 1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("n_inputs", "n_outputs"), [(3, 5), (16, 16), (40, 7)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_values_and_gradients_are_those_of_the_usual_product(n_inputs: int, n_outputs: int, has_bias: bool) -> None:
    x = torch.randn(2, 9, n_inputs, generator=GENERATOR, requires_grad=True)
    weight = torch.randn(n_outputs, n_inputs, generator=GENERATOR, requires_grad=True)
    bias = torch.randn(n_outputs, generator=GENERATOR, requires_grad=True) if has_bias else None
    to_y = torch.randn(2, 9, n_outputs, generator=GENERATOR)
    asked = [each for each in (x, weight, bias) if each is not None]
    assert product.is_quick(x, weight)
    found, usual = product.product(x, weight, bias), functional.linear(x, weight, bias)
    assert torch.allclose(found, usual, atol=1e-5)
    for ours, theirs in zip(
        torch.autograd.grad(found, asked, to_y), torch.autograd.grad(usual, asked, to_y), strict=True
    ):
        assert torch.allclose(ours, theirs, atol=1e-4)


@pytest.mark.usefixtures("quick")
def test_a_layer_whose_weights_are_frozen_still_passes_gradients_on() -> None:
    layer = Linear(6, 4).requires_grad_(False)
    x = torch.randn(3, 6, generator=GENERATOR, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad is not None and torch.allclose(x.grad, layer.weight.sum(0).expand(3, 6), atol=1e-6)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("n_rows", [64, 70])
def test_where_only_the_bias_learns_it_learns_and_what_comes_out_may_be_changed_in_place(n_rows: int) -> None:
    layer = Linear(6, 4)
    layer.weight.requires_grad_(False)
    layer(torch.randn(n_rows, 6, generator=GENERATOR)).mul_(2).sum().backward()
    assert layer.bias.grad is not None and torch.allclose(layer.bias.grad, torch.full((4,), 2.0 * n_rows))


@pytest.mark.usefixtures("quick")
def test_the_same_product_is_the_same_to_the_bit() -> None:
    x, weight = torch.randn(300, 70, generator=GENERATOR), torch.randn(90, 70, generator=GENERATOR)
    assert torch.equal(product.multiply(x, weight), product.multiply(x.clone(), weight.clone()))


def test_small_products_other_kinds_of_numbers_and_other_machines_go_the_usual_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = torch.zeros(512, 512)
    monkeypatch.setattr(product, "_is_quicker_here", lambda: True)
    assert product.is_quick(large, large)
    assert not product.is_quick(large[:2], large)
    assert not product.is_quick(large.double(), large.double())
    monkeypatch.setattr(product, "_is_quicker_here", lambda: False)
    assert not product.is_quick(large, large)
