import pytest
import torch
from torch.nn import functional

from clearhead.engine.int8 import Int8Linear, quantise
from clearhead.engine.products import FewRowsLinear

GENERATOR = torch.Generator().manual_seed(0)


def few_rows_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    with torch.no_grad():
        return FewRowsLinear(weight=weight, bias=bias)(x)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=GENERATOR)


@pytest.mark.parametrize(
    "shape", [(0,), (1,), (2,), (7,), (64,), (65,), (1, 1), (3, 1), (1, 5), (2, 0, 3), (4, 3, 2), ()]
)
@pytest.mark.parametrize("n_outputs", [1, 3, 7, 8, 9, 16, 67])
@pytest.mark.parametrize("width", [1, 5, 24])
def test_few_rows_are_the_usual_product(shape: tuple[int, ...], n_outputs: int, width: int) -> None:
    x, weight, bias = random(*shape, width), random(n_outputs, width), random(n_outputs)
    for added in (None, bias):
        found = few_rows_linear(x, weight, added)
        usual = functional.linear(x, weight, added)
        assert found.shape == usual.shape
        assert torch.allclose(found, usual, atol=1e-5, rtol=1e-5)


def test_views_are_read_as_what_they_show() -> None:
    weight, x = random(10, 24), random(3, 24, 2).transpose(1, 2)
    for rows in (x, x[:1, :1], x[:, 1]):
        assert torch.allclose(few_rows_linear(rows, weight, None), functional.linear(rows, weight), atol=1e-5)


def test_gradients_flow_as_through_the_usual_product() -> None:
    weight, x = torch.nn.Parameter(random(9, 5)), random(1, 5)
    FewRowsLinear(weight=weight, bias=None)(x).sum().backward()
    assert torch.allclose(weight.grad, x.expand(9, 5))


def test_whole_numbers_are_near_the_weights_and_reach_both_ends() -> None:
    weight = random(20, 30)
    weight[3] = 0.0
    integer, scale = quantise(weight)
    assert integer.dtype == torch.int8
    assert integer.abs().amax(-1).tolist() == [0 if row == 3 else 127 for row in range(20)]
    assert ((integer * scale.unsqueeze(1) - weight).abs() <= scale.unsqueeze(1) / 2 + 1e-7).all()


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("n_outputs", [5, 4096, 5000])
def test_the_product_of_whole_numbers_is_that_of_what_they_stand_for(n_outputs: int, biased: bool) -> None:
    weight, x = random(n_outputs, 12), random(2, 3, 12)
    bias = torch.nn.Parameter(random(n_outputs)) if biased else None
    integer, scale = quantise(weight)
    layer = Int8Linear(weight=weight, bias=bias)
    # Rows are rounded too, to nearly 16 bits.
    assert torch.allclose(layer(x), functional.linear(x, integer * scale.unsqueeze(1), bias), atol=1e-3)
    assert torch.equal(layer(x)[1, 2], layer(x[1:, 2:])[0, 0])
