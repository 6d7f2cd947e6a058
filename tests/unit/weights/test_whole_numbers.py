"""Weights as whole numbers in a file: what is opened is what the engine would have rounded."""

import json
from pathlib import Path

import pytest
import torch

from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request, WeightFormat, prepare
from clearhead.engine.int8 import Int8Linear
from clearhead.errors import ShapeMismatch
from clearhead.model import Model, load
from clearhead.testing import TinyModel
from clearhead.weights.tensors import read_tensors, write_tensors
from clearhead.weights.whole_numbers import METHOD, quantise, restored


def saved(name: str, folder: Path) -> Model:
    model = Model.of(TinyModel(name).model, tokenizer=TinyModel(name).tokenizer)
    model.save_pretrained(folder, precision="int8")
    return model


def integers(model: Model) -> list[torch.Tensor]:
    ready = prepare(model.checkpoint.model, weights=WeightFormat.INT8)
    return [part.integer for part in ready.modules() if isinstance(part, Int8Linear)]


@pytest.mark.parametrize("name", ["gpt2", "llama", "marian", "t5", "bert", "distilbert"])
def test_the_whole_numbers_are_those_that_the_engine_makes(name: str, tmp_path: Path) -> None:
    model = saved(name, tmp_path)
    again = load(tmp_path)
    for found, wanted in zip(integers(again), integers(model), strict=True):
        assert found.equal(wanted)
    stored = read_tensors(tmp_path)
    small = sum(one.numel() for one in stored.values() if one.dtype is torch.int8)
    assert small > sum(one.numel() for one in stored.values() if one.is_floating_point())
    assert json.loads((tmp_path / "config.json").read_text())["quantization_config"] == {"quant_method": METHOD}


@pytest.mark.parametrize("name", ["gpt2", "marian"])
def test_it_writes_what_it_wrote_before(name: str, tmp_path: Path) -> None:
    def ids(model: Model) -> list[tuple[int, ...]]:
        network = model.checkpoint.model
        engine = Engine(network=network, weights=WeightFormat.INT8, start_id=1)  # type: ignore[arg-type]
        settings = DecodingSettings(max_new_tokens=8)
        return [one.best.ids for one in engine.generate([Request(ids=(5, 6, 7), settings=settings)])]

    model = saved(name, tmp_path)
    assert ids(load(tmp_path)) == ids(model)


def test_saved_again_as_floats_it_is_an_ordinary_folder(tmp_path: Path) -> None:
    saved("bert", tmp_path / "small")
    load(tmp_path / "small").save_pretrained(tmp_path / "plain")
    assert "quantization_config" not in json.loads((tmp_path / "plain/config.json").read_text())
    assert all(one.is_floating_point() for one in read_tensors(tmp_path / "plain").values())


def test_a_scale_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    saved("bert", tmp_path)
    tensors = read_tensors(tmp_path)
    name = next(name for name in tensors if name.endswith(".scale"))
    tensors[name] = tensors[name][:-1]
    write_tensors(tmp_path, tensors)
    with pytest.raises(ShapeMismatch, match="does not fit"):
        load(tmp_path)


def test_others_whole_numbers_stay_what_they_are() -> None:
    tensors = {"a": torch.ones(2, 2, dtype=torch.int8), "b.scale": torch.ones(2)}
    found = restored(tensors)
    assert found.keys() == tensors.keys() and found["a"].dtype is torch.int8


def test_rows_and_columns() -> None:
    weight = torch.tensor([[1.0, -254.0], [0.0, 0.0]])
    by_row, scale = quantise(weight)
    assert by_row.tolist() == [[0, -127], [0, 0]] and scale.tolist() == [[2.0], [0.0]]
    by_column, scale = quantise(weight, inputs=0)
    assert by_column.tolist() == [[127, -127], [0, 0]] and scale.shape == (1, 2)
