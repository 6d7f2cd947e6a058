import pytest

from clearhead.training.clock import LEAST_MEASURED, Clock, Pace, is_measured, mean_step, plan_steps


def test_a_clock_counts_on_from_earlier_processes() -> None:
    now = iter([100.0, 107.5])
    clock = Clock(now=lambda: next(now))
    clock.add(30.0)
    assert clock.elapsed == 37.5


def test_a_pace_needs_some_steps_and_some_time() -> None:
    assert not is_measured([10.0] * (LEAST_MEASURED - 1), budget=60.0)
    assert not is_measured([0.001] * LEAST_MEASURED, budget=60.0)
    assert is_measured([1.0] * LEAST_MEASURED, budget=60.0)


def test_the_first_steps_do_not_count() -> None:
    assert mean_step([9.0, 9.0, 1.0, 2.0]) == 1.5
    assert mean_step([9.0]) == 9.0


@pytest.mark.parametrize("evaluate_every", [None, 10, 1000])
@pytest.mark.parametrize("pace", [(0.5, 0.0, 0.0), (0.5, 2.0, 0.3), (0.01, 30.0, 1.0), (20.0, 1.0, 1.0)])
def test_what_is_planned_fits_and_fills_the_time(pace: tuple[float, float, float], evaluate_every: int | None) -> None:
    step, evaluation, saving = pace
    done, left, save_every = 17, 3600.0, 300.0
    measured = Pace(step=step, evaluation=evaluation, saving=saving)
    plan = plan_steps(done=done, left=left, pace=measured, save_every=save_every, evaluate_every=evaluate_every)
    n_new = plan.n_steps - done
    n_evaluations = n_new // plan.evaluate_every + 1
    taken = n_new * step + n_evaluations * (evaluation + saving) + left / save_every * saving
    assert 0.9 * left < taken < left
    assert plan.evaluate_every == (evaluate_every or plan.evaluate_every)
    assert plan.reserve >= 2 * evaluation + saving


def test_no_time_left_is_one_more_step() -> None:
    pace = Pace(step=1.0, evaluation=1.0, saving=1.0)
    plan = plan_steps(done=8, left=-5.0, pace=pace, save_every=300.0, evaluate_every=None)
    assert (plan.n_steps, plan.evaluate_every) == (9, 1)
