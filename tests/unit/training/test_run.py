import json
from pathlib import Path

import pytest
import torch

from clearhead.errors import TrainingError
from clearhead.training import MetricsLog, RunFolder, open_run, read_metrics, read_yaml
from clearhead.training.run import differences, threads

CONFIG = {"train": {"lr": 0.1, "steps": 5}, "model": {"width": 8}}
DATA = {"train": [{"files": [{"name": "train.en", "size": 5}, {"name": "train.de", "size": 6}], "task": "translate"}]}


def opened(path: Path, config: object = CONFIG, data: object = DATA) -> RunFolder:
    with open_run(path, config=config, data=data) as run:
        return run


def test_a_new_run_writes_its_settings_and_is_gone_on_with(tmp_path: Path) -> None:
    first = opened(tmp_path / "run")
    again = opened(tmp_path / "run")
    assert first.n_threads == again.n_threads == torch.get_num_threads()
    assert read_yaml(tmp_path / "run/config.yaml") == CONFIG


def test_what_was_never_trained_begins_anew(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / "data").mkdir()
    said: list[str] = []
    with open_run(tmp_path, config={"train": {"lr": 0.2}}, data=DATA, say=said.append):
        assert not (tmp_path / "data").exists()
    assert "begun anew" in said[0]
    assert read_yaml(tmp_path / "config.yaml") == {"train": {"lr": 0.2}}


def test_changed_settings_and_data_are_refused_by_name(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / "metrics.jsonl").touch()
    config = {"train": {"lr": 0.2, "steps": 5, "seed": 1}, "model": {"width": 8}}
    data = json.loads(json.dumps(DATA))
    data["train"][0]["files"][1]["size"] = 7
    with pytest.raises(TrainingError) as caught:
        opened(tmp_path, config=config, data=data)
    changes = ["train.lr: 0.1 -> 0.2", "train.seed: None -> 1", "data.train.0.files.1.size: 6 -> 7"]
    assert caught.value.got == "; ".join(changes)


def test_differences_of_plain_data() -> None:
    assert differences({"a": [1]}, {"a": [1]}, "") == []
    assert differences({"a": [1]}, {"a": [1, 2]}, "") == ["a.1: None -> 2"]
    assert differences({"a": 1, "b": {"c": 2}}, {"b": 3}, "x") == ["x.a: 1 -> None", "x.b: {'c': 2} -> 3"]


@pytest.mark.parametrize("part", ["checkpoints", "metrics.jsonl"])
def test_parts_of_an_unknown_run_are_left_alone(tmp_path: Path, part: str) -> None:
    (tmp_path / part).mkdir()
    with pytest.raises(TrainingError, match="nothing that says which"):
        opened(tmp_path)
    assert (tmp_path / part).is_dir()


@pytest.mark.parametrize("part", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_model_is_not_replaced(tmp_path: Path, part: str) -> None:
    (tmp_path / part).write_text("{}")
    with pytest.raises(TrainingError, match="holds a model already"):
        opened(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == [part]


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        open_run(tmp_path, config=CONFIG, data=DATA),
        pytest.raises(TrainingError, match="another process"),
        open_run(tmp_path, config=CONFIG, data=DATA),
    ):
        pass
    opened(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(TrainingError, match="cannot be used"):
        opened(tmp_path / "file")


@pytest.mark.parametrize("content", ["{", "[]", '{"config": {}, "config": {}}'])
def test_a_damaged_run_file_is_refused(tmp_path: Path, content: str) -> None:
    opened(tmp_path)
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(TrainingError):
        opened(tmp_path)


@pytest.mark.parametrize("n_threads", [0, "2", None, True, 10**9])
def test_a_number_of_threads_that_cannot_be_is_refused(tmp_path: Path, n_threads: object) -> None:
    opened(tmp_path)
    content = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**content, "threads": n_threads}))
    with pytest.raises(TrainingError, match="threads"):
        opened(tmp_path)


def test_another_machine_or_torch_is_said(tmp_path: Path) -> None:
    opened(tmp_path)
    content = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**content, "threads": 4000, "torch": "0.1"}))
    said: list[str] = []
    with open_run(tmp_path, config=CONFIG, data=DATA, say=said.append) as run:
        assert run.n_threads == 4000
    assert ["torch 0.1" in said[0], "4000 threads" in said[1]] == [True, True]


def test_threads_are_those_of_the_run_for_a_while() -> None:
    before = torch.get_num_threads()
    with threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


def test_the_log_loses_what_will_be_made_again(tmp_path: Path) -> None:
    log = MetricsLog(path=tmp_path / "metrics.jsonl")
    log.sync()
    log.cut(3)
    for step in range(1, 6):
        log.append({"step": step, "loss": step / 3})
    log.sync()
    with log.path.open("a") as stream:
        stream.write('{"step": 6, "lo')
    log.cut(3)
    assert list(read_metrics(log.path)) == [{"step": step, "loss": step / 3} for step in range(1, 4)]
    log.append({"step": 4, "loss": 1.0})
    assert [line["step"] for line in read_metrics(log.path)] == [1, 2, 3, 4]


def test_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n[]\n\n{"loss": 2}\n{"step": "x"}\n{"step": 2}\n')
    assert [line["step"] for line in read_metrics(path)] == [1, 2]
