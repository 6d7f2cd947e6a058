"""The list of models says what each is without reading a tensor."""

import os
from pathlib import Path

import pytest
import torch

from clearhead.errors import WeightsError
from clearhead.weights import catalogue, locate, tensors
from clearhead.weights.catalogue import Home, list_models, read_licence
from clearhead.weights.tensors import write_tensors

CARD = "---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\nlicense: not this\n"


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty computer: nothing embedded, nothing cached; the present directory is empty too."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(locate, "PRETRAINED", tmp_path / "pretrained")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def make(folder: Path, *, card: str | None = CARD, limit: int = 10**9) -> Path:
    write_tensors(
        folder, {"w": torch.ones(10, 10), "b": torch.ones(5).half(), "ids": torch.arange(7)}, max_shard_bytes=limit
    )
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    if card is not None:
        (folder / "README.md").write_text(card)
    return folder


def cache(house: Path, name: str) -> Path:
    place = house / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = place / "snapshots" / ("a" * 40)
    make(snapshot)
    (place / "blobs").mkdir()
    for file in list(snapshot.iterdir()):
        blob = place / "blobs" / f"blob-of-{file.name}"
        file.rename(blob)
        file.symlink_to(os.path.relpath(blob, snapshot))
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("a" * 40)
    return snapshot


def test_an_empty_computer_has_none() -> None:
    assert list_models() == []


def test_embedded_cached_and_local_models(house: Path) -> None:
    make(house / "pretrained" / "translator")
    snapshot = cache(house, "owner/model")
    make(house / "here" / "mine", limit=100)
    entries = list_models()
    assert [(entry.name, entry.home) for entry in entries] == [
        ("translator", Home.EMBEDDED),
        ("owner/model", Home.CACHED),
        ("mine", Home.LOCAL),
    ]
    for entry in entries:
        assert (entry.family, entry.n_parameters, entry.licence, entry.problem) == ("gpt2", 105, "apache-2.0", None)
        assert entry.n_bytes == sum(path.stat().st_size for path in entry.folder.iterdir())
    assert entries[1].folder == snapshot


def test_no_tensor_is_read(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(house / "here" / "mine")

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(tensors, "_read", refuse)
    assert list_models()[0].n_parameters == 105


def test_given_folders_are_looked_into_or_are_models(house: Path) -> None:
    make(house / "place" / "one")
    make(house / "place" / "deep" / "two")
    (house / "place" / "no-model").mkdir()
    (house / "place" / "no-model" / "config.json").write_text("{}")
    model = make(house / "model")
    entries = list_models(house / "place", model, model)
    assert [entry.folder for entry in entries] == [house / "place" / "one", model]
    with pytest.raises(WeightsError, match="a folder that cannot be looked into"):
        list_models(house / "nowhere")


def test_a_broken_model_is_listed_with_what_is_wrong(house: Path) -> None:
    make(house / "here" / "sound")
    (make(house / "here" / "cut") / "model.safetensors").write_bytes(b"")
    pickled = house / "here" / "pickled"
    pickled.mkdir()
    (pickled / "config.json").write_text('{"model_type": "bert"}')
    (pickled / "pytorch_model.bin").write_bytes(b"")
    (make(house / "here" / "odd") / "config.json").write_text("[]")
    found = {entry.name: entry for entry in list_models()}
    assert found["sound"].problem is None
    assert found["cut"].problem == "a weight file that is cut off"
    assert found["cut"].n_parameters is None
    assert found["pickled"].family == "bert"
    assert "can hide a program" in str(found["pickled"].problem)
    assert "JSON" in str(found["odd"].problem)


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        (CARD, "apache-2.0"),
        ("---\r\nlicense: mit\r\n---\r\n", "mit"),
        ("---\nlicense: 'cc-by-4.0'\n---\n", "cc-by-4.0"),
        ("---\nlicense:\n- mit\n- apache-2.0\n---\n", "mit"),
        ("---\nlicense: other\nlicense_name: llama3\n---\n", "llama3"),
        ("---\nlicense: other\n---\n", "other"),
        ("\ufeff---\nlicense: mit\n---\n", "mit"),
        ("---\nlanguage: en\n---\nlicense: mit\n", None),
        ("license: mit\n", None),
        ("---\nlicense: mit\n", None),
        ("---\nlicense: \x1b[2J\n---\n", None),
        ("", None),
        ("---\n" + "a" * 10**6, None),
    ],
)
def test_the_licence_of_a_card(tmp_path: Path, card: str, licence: str | None) -> None:
    (tmp_path / "README.md").write_bytes(card.encode())
    assert read_licence(tmp_path) == licence


def test_a_licence_beside_the_card(tmp_path: Path) -> None:
    assert read_licence(tmp_path) is None
    (tmp_path / "README.md").write_bytes(b"\xff\xfe")
    (tmp_path / "LICENSE.txt").write_text("as it is")
    assert read_licence(tmp_path) == "see LICENSE.txt"


def test_a_cache_that_is_damaged_is_left_alone(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (house / "hub" / "models--owner--model" / "snapshots").mkdir(parents=True)
    (house / "hub" / "stray").write_text("")
    assert list_models() == []
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(house / "hub" / "stray"))
    assert list_models() == []
    assert catalogue.list_models(make(house / "model"))[0].home is Home.LOCAL
