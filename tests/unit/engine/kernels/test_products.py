"""Products by kernels: exact for whole numbers, the usual ones for floats, and no row depends on another."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from clearhead.engine.int8 import EVEN, Int8Embedding, Int8Linear, Int8Matrix, quantise
from clearhead.engine.kernels import ready
from clearhead.engine.kernels.layout import pack, unpack
from clearhead.engine.kernels.rows_of import multiply
from clearhead.engine.kernels.tables import Product
from clearhead.errors import TextError

GENERATOR = torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=GENERATOR)


SHAPES = [(1, 1), (5, 3), (32, 4), (33, 7), (64, 24), (67, 51), (100, 129)]
ROWS = [0, 1, 2, 3, 8, 33, 70]


@pytest.mark.parametrize(("n_outputs", "width"), SHAPES)
def test_whole_numbers_are_multiplied_exactly_as_torch_would(n_outputs: int, width: int) -> None:
    layer = Int8Linear(weight=random(n_outputs, width), bias=random(n_outputs))
    for n_rows in ROWS:
        x = random(n_rows, width) * 10
        x[: n_rows // 4] = 0.0
        x[1::3, width // 2] *= 1000.0  # such rows need more than a byte a number
        found = layer(x)
        with ready.by_parts():
            assert torch.equal(found, layer(x))


@pytest.mark.parametrize("n_rows", [1, 2, 5, 6, 7, 40])
def test_rows_of_one_byte_and_of_two_are_multiplied_as_torch_would(n_rows: int) -> None:
    matrix = Int8Matrix(weight=random(70, 96), even=EVEN)
    layer = Int8Linear(weight=matrix, bias=random(70))
    x = random(n_rows, 96)
    x[::3, 7] = 100.0
    found = layer(x)
    with ready.by_parts():
        assert torch.equal(found, layer(x))
    for row in range(n_rows):
        assert torch.equal(layer(x[row : row + 1]), found[row : row + 1])


def test_numbers_beside_a_far_larger_one_keep_their_digits() -> None:
    weight, x = random(40, 256), random(2, 256)
    x[0, 7] = 100.0
    integer, scale = quantise(weight)
    exact = x @ (integer * scale[:, None]).t()
    found = Int8Linear(weight=Int8Matrix(weight=weight, even=EVEN), bias=None)(x)
    apart = (found - exact).abs().amax(1) / exact.abs().amax(1)
    assert apart[0] < 1e-3 < apart[1] < 2e-2  # the second has a byte a number


def test_the_largest_numbers_still_have_exact_sums() -> None:
    layer = Int8Linear(weight=torch.ones(40, 3001), bias=None)
    x = torch.ones(3, 3001)
    x[1] = -1.0
    with ready.by_parts():
        by_parts = layer(x)
    assert torch.equal(layer(x), by_parts)
    assert torch.allclose(layer(x)[:2, 0], torch.tensor([3001.0, -3001.0]), rtol=1e-4)


@pytest.mark.parametrize("strange", [torch.nan, torch.inf, -torch.inf])
def test_what_is_no_number_stays_none_and_in_its_row(strange: float) -> None:
    layer = Int8Linear(weight=random(9, 12), bias=None)
    x = random(3, 12)
    alone = layer(x[::2])
    x[1, 5] = strange
    assert layer(x)[1].isnan().all()
    assert torch.equal(layer(x)[::2], alone)


@pytest.mark.parametrize(("n_outputs", "width"), SHAPES)
def test_floats_are_multiplied_as_usual(n_outputs: int, width: int) -> None:
    weight, bias = random(n_outputs, width), random(n_outputs)
    for n_rows in ROWS:
        x = random(n_rows, width)
        for added in (bias, None):
            found = multiply(x, Product.float32(weight, added))
            assert torch.allclose(found, functional.linear(x, weight, added), atol=1e-4)


@pytest.mark.parametrize(
    "make", [lambda w: Product.float32(w, None), lambda w: Int8Linear(weight=w, bias=None).product]
)
def test_a_row_is_the_same_to_the_last_bit_in_any_company(make, two_threads: None) -> None:
    product, x = make(random(70, 51)), random(37, 51)
    together = multiply(x, product)
    for n_rows in (1, 2, 5, 36):
        assert torch.equal(multiply(x[:n_rows], product), together[:n_rows])
    torch.set_num_threads(1)
    assert torch.equal(multiply(x, product), together)


def test_threads_leave_the_rows_of_others_alone(two_threads: None) -> None:
    product, x = Int8Linear(weight=random(512, 512), bias=None).product, random(40, 512)
    together = multiply(x, product)
    assert all(torch.equal(multiply(x, product), together) for _ in range(150))


def test_rows_may_be_views() -> None:
    product, x = Product.float32(random(9, 12), None), random(12, 5)
    assert torch.equal(multiply(x.t(), product), multiply(x.t().contiguous(), product))
    wide = random(5, 40)
    assert torch.equal(multiply(wide[:, 3:15], product), multiply(wide[:, 3:15].contiguous(), product))


@pytest.mark.parametrize(("n_outputs", "width"), SHAPES)
def test_packing_can_be_undone(n_outputs: int, width: int) -> None:
    integer, _ = quantise(random(n_outputs, width))
    assert torch.equal(unpack(pack(integer), 0, n_outputs, width=width), integer)


def test_a_table_of_whole_numbers_gives_its_rows_and_refuses_others() -> None:
    weight = random(40, 7)
    integer, scale = quantise(weight)
    table = Int8Embedding(matrix=Int8Matrix(weight=weight), scale=2.0)
    ids = torch.tensor([[0, 39], [31, 32]])
    assert torch.allclose(table(ids), (integer * scale.unsqueeze(1))[ids] * 2, atol=1e-6)
    for wrong in (40, -1):
        with pytest.raises(TextError, match="outside the vocabulary"):
            table(torch.tensor([[wrong]]))


def test_gradients_go_through_what_the_whole_numbers_stand_for() -> None:
    weight, x = random(9, 5), random(2, 5).requires_grad_()
    Int8Linear(weight=weight, bias=None)(x).sum().backward()
    integer, scale = quantise(weight)
    assert torch.allclose(x.grad, (integer * scale.unsqueeze(1)).sum(0).expand(2, 5), atol=1e-5)
