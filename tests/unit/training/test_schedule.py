import math

import pytest

from clearhead.training.schedule import rate_at
from clearhead.training.settings import ScheduleKind, ScheduleSettings

ALL = [ScheduleSettings(kind=kind, warmup_steps=10) for kind in ScheduleKind]


@pytest.mark.parametrize("schedule", ALL, ids=lambda schedule: schedule.kind)
def test_the_warm_up_rises_in_equal_steps_to_the_peak(schedule: ScheduleSettings) -> None:
    rates = [rate_at(step, schedule=schedule, n_steps=100) for step in range(1, 11)]
    assert rates == pytest.approx([step / 10 for step in range(1, 11)])


def test_the_inverse_square_root_is_that_of_the_paper() -> None:
    schedule = ScheduleSettings(kind=ScheduleKind.INVERSE_SQUARE_ROOT, warmup_steps=400)

    def paper(step: int) -> float:
        return min(step**-0.5, step * 400**-1.5)

    for step in (1, 399, 400, 401, 5000):
        assert rate_at(step, schedule=schedule, n_steps=None) == pytest.approx(paper(step) / paper(400))


def test_a_cosine_falls_from_the_peak_to_its_floor() -> None:
    schedule = ScheduleSettings(kind=ScheduleKind.COSINE, warmup_steps=10, floor=0.1)
    assert rate_at(10, schedule=schedule, n_steps=110) == 1.0
    assert rate_at(60, schedule=schedule, n_steps=110) == pytest.approx(0.55)
    assert rate_at(85, schedule=schedule, n_steps=110) == pytest.approx(0.1 + 0.45 * (1 + math.cos(0.75 * math.pi)))
    assert rate_at(110, schedule=schedule, n_steps=110) == pytest.approx(0.1)


def test_a_constant_stays() -> None:
    schedule = ScheduleSettings(kind=ScheduleKind.CONSTANT, warmup_steps=0)
    assert {rate_at(step, schedule=schedule, n_steps=50) for step in range(1, 51)} == {1.0}


def test_nothing_falls_while_the_length_is_not_known() -> None:
    schedule = ScheduleSettings(kind=ScheduleKind.COSINE, warmup_steps=4, cooldown=0.5)
    assert [rate_at(step, schedule=schedule, n_steps=None) for step in (3, 4, 1000)] == [0.75, 1.0, 1.0]


def test_a_run_that_ends_in_its_warm_up_cools_down_too() -> None:
    schedule = ScheduleSettings(kind=ScheduleKind.CONSTANT, warmup_steps=100, cooldown=0.5)
    rates = [rate_at(step, schedule=schedule, n_steps=40) for step in range(1, 41)]
    assert rates[:20] == pytest.approx([step / 100 for step in range(1, 21)])
    assert rates[20:] == pytest.approx([step / 100 * (41 - step) / 21 for step in range(21, 41)])


def test_a_cooldown_ends_just_above_nothing() -> None:
    schedule = ScheduleSettings(kind=ScheduleKind.CONSTANT, warmup_steps=0, cooldown=0.2)
    rates = [rate_at(step, schedule=schedule, n_steps=100) for step in range(1, 101)]
    assert rates[:80] == [1.0] * 80
    assert rates[80:] == pytest.approx([(101 - step) / 21 for step in range(81, 101)])
    assert rates[-1] > 0
