"""Folders whose configuration and weights do not belong together: one WeightsError each, naming what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import clearhead
from clearhead.errors import MissingTensor, ShapeMismatch, UnsafeFile, WeightsError
from clearhead.weights.load import load_checkpoint
from clearhead.weights.tensors import read_tensors, write_tensors

FAMILIES = ("gpt2", "llama", "bert", "distilbert", "t5", "marian")


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    network = clearhead.build(clearhead.preset("tiny", architecture=request.param, vocab_size=20), seed=0)
    return clearhead.Model.of(network).save_pretrained(tmp_path / "model")


def change_config(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    change(config)
    path.write_text(json.dumps(config), encoding="utf-8")


def change_tensors(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    tensors = read_tensors(folder)
    change(tensors)
    write_tensors(folder, tensors)


@pytest.mark.parametrize("folder", FAMILIES, indirect=True)
def test_every_tensor_is_missed_by_name(folder: Path) -> None:
    names = list(read_tensors(folder))
    for name in (names[0], names[len(names) // 2], names[-1]):
        tensors = read_tensors(folder)
        write_tensors(folder, {other: tensor for other, tensor in tensors.items() if other != name})
        with pytest.raises(MissingTensor) as caught:
            load_checkpoint(folder)
        assert caught.value.got == f"no {name}"
        write_tensors(folder, tensors)


@pytest.mark.parametrize("folder", FAMILIES, indirect=True)
def test_a_tensor_of_another_shape_is_named(folder: Path) -> None:
    name = next(iter(read_tensors(folder)))
    change_tensors(folder, lambda tensors: tensors.update({name: tensors[name][:-1]}))
    with pytest.raises(ShapeMismatch, match=name.replace(".", r"\.")):
        load_checkpoint(folder)


@pytest.mark.parametrize("folder", FAMILIES, indirect=True)
def test_a_tensor_with_a_nan_is_refused(folder: Path) -> None:
    name = next(iter(read_tensors(folder)))
    change_tensors(folder, lambda tensors: tensors[name].view(-1)[0].fill_(torch.nan))
    with pytest.raises(WeightsError, match="not finite"):
        load_checkpoint(folder)


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no family": lambda config: config.pop("model_type"),
    "an unknown family": lambda config: config.update(model_type="mamba"),
    "a family of another type": lambda config: config.update(model_type=["llama"]),
    "an unknown class": lambda config: config.update(architectures=["LlamaForVision"]),
    "a class of another type": lambda config: config.update(architectures=3),
    "no width": lambda config: config.pop("hidden_size"),
    "a width of another type": lambda config: config.update(hidden_size="64"),
    "a negative width": lambda config: config.update(hidden_size=-64),
    "terabytes": lambda config: config.update(vocab_size=2**31 - 1, hidden_size=2**20),
    "beyond every size": lambda config: config.update(vocab_size=10**30),
    "too many layers": lambda config: config.update(num_hidden_layers=10**9),
    "more layers than tensors": lambda config: config.update(num_hidden_layers=3),
    "fewer layers than tensors": lambda config: config.update(num_hidden_layers=1),
    "an unknown activation": lambda config: config.update(hidden_act="wiggle"),
    "an unknown rotary scaling": lambda config: config.update(rope_parameters={"rope_type": "longrope", "factor": 2}),
    "a rotary scaling without a factor": lambda config: config.update(rope_parameters={"rope_type": "linear"}),
    "rotary positions that are a list": lambda config: config.update(rope_parameters=[1]),
    "heads that do not divide": lambda config: config.update(num_key_value_heads=3),
    "a token id of another type": lambda config: config.update({"bos_token_id": "one"}),
    "ends of another type": lambda config: config.update(eos_token_id=["two"]),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("folder", ["llama"], indirect=True)
def test_a_configuration_that_is_wrong_is_one_weights_error(folder: Path, case: str) -> None:
    # The ids of generation_config.json would win over those that are made wrong here.
    (folder / "generation_config.json").unlink()
    change_config(folder, WRONG[case])
    with pytest.raises(WeightsError):
        load_checkpoint(folder)


def test_a_folder_that_is_no_model_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"config\.json|file that does not exist") as caught:
        load_checkpoint(tmp_path)
    assert "config.json" in str(caught.value)


@pytest.mark.parametrize("folder", ["gpt2"], indirect=True)
def test_a_pickle_is_never_opened(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UnsafeFile, match="pickle") as caught:
        load_checkpoint(folder)
    assert caught.value.advice


@pytest.mark.parametrize("modules", [b"{", b"[]", b'[{"type": "x.Dense"}, {"type": "x.Pooling"}]', b"3"])
@pytest.mark.parametrize("folder", ["bert"], indirect=True)
def test_modules_that_are_not_understood_are_refused(folder: Path, modules: bytes) -> None:
    change_config(folder, lambda config: config.update(architectures=["BertModel"]))
    (folder / "modules.json").write_bytes(modules)
    with pytest.raises(WeightsError, match="modules"):
        load_checkpoint(folder)
