"""A job from presets, a file and what was asked for: which goes before which."""

import pytest

from clearhead.data import Task
from clearhead.errors import ConfigError
from clearhead.training import make_job
from clearhead.training.settings import OptimiserKind


def test_a_file_names_the_task_and_gets_its_presets() -> None:
    job = make_job(given={"task": "classify"})
    assert job.task is Task.CLASSIFY
    assert (job.train.metric, job.train.label_smoothing) == ("accuracy", 0.0)
    assert job.train == make_job(Task.CLASSIFY).train


def test_what_is_asked_for_goes_before_the_file() -> None:
    given = {"task": "classify", "model": {"preset": "base", "width": 64}}
    job = make_job(Task.SIMILARITY, preset="tiny", given=given, overrides=["train.lr=0.5"])
    assert (job.task, job.model.preset, job.model.width, job.train.lr) == (Task.SIMILARITY, "tiny", 64, 0.5)
    assert make_job(given=given).model.preset == "base"
    assert make_job().task is Task.TRANSLATE
    assert make_job().model.preset == "small"


def test_one_length_takes_the_place_of_the_other() -> None:
    timed, counted = {"train": {"time_budget": 1800.0}}, {"train": {"steps": 100}}
    by_steps = make_job(given=timed, overrides=["train.steps=500"]).train
    by_time = make_job(given=counted, overrides=["train.time_budget=2m"]).train
    assert (by_steps.steps, by_steps.time_budget) == (500, None)
    assert (by_time.steps, by_time.time_budget) == (None, 120.0)
    with pytest.raises(ConfigError, match="steps"):
        make_job(overrides=["train.steps=5", "train.time_budget=2m"])


def test_muon_trains_new_transformers_and_nothing_else() -> None:
    for task in Task:
        new = task in (Task.TRANSLATE, Task.LANGUAGE_MODEL, Task.MASKED_LANGUAGE_MODEL)
        kinds = {True: OptimiserKind.MUON, False: OptimiserKind.ADAMW}
        assert make_job(task).train.optimiser.kind is kinds[new]
        assert make_job(task, overrides=["model.start=x"]).train.optimiser.kind is OptimiserKind.ADAMW
    for name in ("recurrent", "recurrent-attention"):
        assert make_job(overrides=[f"model.architecture={name}"]).train.optimiser.kind is OptimiserKind.ADAMW


def test_an_optimiser_that_is_asked_for_brings_its_own_rate() -> None:
    usual = make_job(overrides=["train.optimiser.kind=adamw"]).train
    other = make_job(Task.CLASSIFY, overrides=["train.optimiser.kind=muon"]).train
    recurrent = make_job(overrides=["model.architecture=recurrent"]).train
    assert (usual.lr, usual.optimiser.weight_decay) == (recurrent.lr, recurrent.optimiser.weight_decay)
    assert (other.lr, other.optimiser.weight_decay) == (make_job().train.lr, make_job().train.optimiser.weight_decay)
    assert usual.lr < other.lr


def test_an_unknown_task_in_a_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean translate"):
        make_job(given={"task": "translat"})
