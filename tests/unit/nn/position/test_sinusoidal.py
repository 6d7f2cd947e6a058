import math

import pytest
import torch

from clearhead.nn import SinusoidalPosition

PLACES = torch.arange(40).unsqueeze(0)


@pytest.mark.parametrize(("width", "theta"), [(2, 10_000.0), (6, 10_000.0), (8, 50.0)])
def test_sines_and_cosines_come_in_turns(width: int, theta: float) -> None:
    table = SinusoidalPosition(width=width, theta=theta)(PLACES)[0]
    for place in range(40):
        for pair in range(width // 2):
            angle = place / theta ** (2 * pair / width)
            assert table[place, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[place, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (0, [0.0, 1.0, 0.0, 1.0]),
        (1, [0.84147, 0.54030, 0.0099998, 0.99995]),
        (2, [0.9093, -0.4161, 0.0200, 0.9998]),
        (3, [0.1411, -0.9900, 0.0300, 0.9996]),
        (4, [-0.7568, -0.6536, 0.0400, 0.9992]),
        (5, [-0.9589, 0.2837, 0.0500, 0.9988]),
    ],
)
def test_the_worked_example_of_four_dimensions(place: int, expected: list[float]) -> None:
    row = SinusoidalPosition(width=4)(torch.tensor([[place]]))[0, 0]
    assert row.tolist() == pytest.approx(expected, abs=6e-5)


def test_in_halves_all_sines_come_first_as_marian_has_them() -> None:
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding  # noqa: PLC0415

    theirs = MarianSinusoidalPositionalEmbedding(40, 10).create_weight()
    ours = SinusoidalPosition(width=10, halves=True)(PLACES)[0]
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


def test_the_table_grows_and_keeps_what_it_had() -> None:
    position = SinusoidalPosition(width=4)
    before = position(torch.tensor([[0, 3]]))
    far = position(torch.tensor([[0, 3, 1000]]))
    assert far[:, :2].equal(before)
    assert far[0, 2, 0].item() == pytest.approx(math.sin(1000), abs=1e-6)
    assert position(torch.tensor([[0, 3]])).equal(before)


def test_every_row_of_a_batch_may_stand_elsewhere() -> None:
    position = SinusoidalPosition(width=4)
    both = position(torch.tensor([[0, 1], [5, 2]]))
    assert both[1, 0].equal(position(torch.tensor([[5]]))[0, 0])
    assert both[1, 1].equal(position(torch.tensor([[2]]))[0, 0])


def test_it_has_nothing_to_learn() -> None:
    assert not list(SinusoidalPosition(width=4).parameters())
