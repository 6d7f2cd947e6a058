import json
from pathlib import Path

import pytest

from clearhead.config import from_dict, to_dict
from clearhead.data import Task
from clearhead.errors import ConfigError
from clearhead.training import TrainSettings, make_settings, override, parse_duration, read_yaml, train_preset
from clearhead.training.settings_file import write_yaml

from .specimen import SETTINGS


def test_settings_survive_json_and_yaml(tmp_path: Path) -> None:
    plain = to_dict(SETTINGS)
    assert from_dict(TrainSettings, json.loads(json.dumps(plain))) == SETTINGS
    write_yaml(tmp_path / "config.yaml", {"train": plain})
    assert make_settings(read_yaml(tmp_path / "config.yaml")["train"]) == SETTINGS


def test_an_unknown_key_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean label_smoothing"):
        make_settings({"steps": 10, "label_smoothin": 0.1})
    with pytest.raises(ConfigError, match="did you mean warmup_steps"):
        make_settings({"steps": 10, "schedule": {"warmup_step": 5}})


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"steps": 10, "time_budget": 10.0},
        {"steps": 0},
        {"steps": 1.5},
        {"steps": True},
        {"steps": 10, "lr": -1.0},
        {"steps": 10, "lr": "fast"},
        {"steps": 10, "seed": -1},
        {"steps": 10, "label_smoothing": 1.0},
        {"steps": 10, "mask_share": 0.0},
        {"steps": 10, "patience": 0},
        {"time_budget": "soon"},
        {"time_budget": -1.0},
        {"steps": 10, "schedule": {"kind": "cosin"}},
        {"steps": 10, "batch": {"accumulate": 0}},
        {"steps": 10, "batch": 4096},
        {"steps": 10, "average": {"decay": 1.0}},
        {"steps": 10, "optimiser": {"clip_norm": 0}},
        {"steps": 10, "dropout": {"residual": 1.0}},
    ],
    ids=str,
)
def test_values_that_make_no_sense_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        make_settings(data)


def test_overrides_reach_every_depth_and_keep_their_types() -> None:
    data = {"train": {"steps": 5, "schedule": {"kind": "cosine"}}}
    words = ["train.lr=3e-4", "train.schedule.warmup_steps=7", "train.maximise=true", "train.metric=bleu", "model.x=.5"]
    changed = override(data, words)
    assert changed["model"] == {"x": 0.5}
    settings = make_settings(changed["train"])
    assert (settings.lr, settings.schedule.warmup_steps, settings.maximise, settings.metric) == (3e-4, 7, True, "bleu")
    assert settings.schedule.kind == "cosine"
    assert data == {"train": {"steps": 5, "schedule": {"kind": "cosine"}}}


@pytest.mark.parametrize("word", ["train.lr", "=3", "train..lr=3", ".lr=3", "train.steps.more=3"])
def test_an_override_that_says_nothing_is_refused(word: str) -> None:
    with pytest.raises(ConfigError):
        override({"train": {"steps": 5}}, [word])


def test_an_override_of_another_type_is_refused() -> None:
    with pytest.raises(ConfigError, match="steps"):
        make_settings(override({"train": {}}, ["train.steps=many"])["train"])


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("45s", 45), ("60m", 3600), ("1h30m", 5400), ("1.5h", 5400), ("2m5s", 125)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds
    assert make_settings({"time_budget": text}).time_budget == seconds


@pytest.mark.parametrize("text", ["", "h", "5 minutes", "-3m", "30m1h", "1d"])
def test_durations_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ConfigError, match="60m"):
        parse_duration(text)


def test_yaml_takes_numbers_for_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("lr: 3e-4\nsteps: 10\nmetric: 3e\nmaximise: true\n")
    assert read_yaml(path) == {"lr": 3e-4, "steps": 10, "metric": "3e", "maximise": True}
    path.write_text("")
    assert read_yaml(path) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"a: &x [1]\nb: *x\n",
        b"a: 1\na: 2\n",
        b"- 1\n- 2\n",
        b"1: 2\n",
        b"a: !!python/object/apply:os.system ['true']\n",
        b"a: [1\n",
        b"\xff\xfe",
        b"a: " + b"[" * 50 + b"]" * 50,
        b"a: " + b"x" * 2**21,
    ],
    ids=["alias", "repeated", "list", "number", "program", "open", "bytes", "deep", "long"],
)
def test_yaml_that_is_not_plain_settings_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError):
        read_yaml(path)


@pytest.mark.parametrize("task", Task)
@pytest.mark.parametrize("name", ["tiny", "small", "base"])
def test_every_task_has_presets(name: str, task: Task) -> None:
    settings = train_preset(name, task=task, time_budget=60.0)
    assert settings.time_budget == 60.0
    assert train_preset(name, task=task, steps=9, fine_tune=True).lr < settings.lr


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean small"):
        train_preset("smal", task=Task.TRANSLATE, steps=1)
