"""A name leads to a folder, or to a message that says why not."""

import subprocess
import sys
from pathlib import Path

import pytest

from clearhead.errors import WeightsError
from clearhead.weights import hub, locate
from clearhead.weights.hub_id import HubId, parse_hub_id


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[HubId]:
    """What the hub was asked for; it is out of reach, and nothing is cached."""
    calls: list[HubId] = []
    real = hub.fetch
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))

    def fetch(model: HubId) -> Path:
        calls.append(model)
        return real(model)

    monkeypatch.setattr(hub, "fetch", fetch)
    return calls


@pytest.fixture
def embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with two embedded models, and a folder that is none."""
    place = tmp_path / "pretrained"
    for name in ("translator", "writer"):
        (place / name).mkdir(parents=True)
        (place / name / "config.json").write_text("{}")
    (place / "__pycache__").mkdir()
    monkeypatch.setattr(locate, "PRETRAINED", place)
    return place


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_folder_is_itself(here: Path, asked: list[HubId]) -> None:
    (here / "runs" / "one").mkdir(parents=True)
    assert locate.resolve("runs/one") == Path("runs/one")
    assert locate.resolve(here / "runs") == here / "runs"
    assert locate.resolve(".") == Path()
    assert asked == []


def test_a_home_is_expanded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    (here / "mine").mkdir()
    assert locate.resolve("~/mine") == here / "mine"
    with pytest.raises(WeightsError, match="no model of this name"):
        locate.resolve("~nobody-of-this-name/mine")


def test_embedded_models_by_name(embedded: Path, here: Path, asked: list[HubId]) -> None:
    assert list(locate.embedded_models()) == ["translator", "writer"]
    assert locate.resolve("translator") == embedded / "translator"
    assert asked == []


def test_a_folder_that_is_a_model_goes_before_an_embedded_one(embedded: Path, here: Path) -> None:
    (here / "writer").mkdir()
    assert locate.resolve("writer") == embedded / "writer"
    (here / "writer" / "config.json").write_text("{}")
    assert locate.resolve("writer") == Path("writer")


def test_nothing_is_embedded_where_the_folder_was_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "PRETRAINED", tmp_path / "nowhere")
    assert locate.embedded_models() == {}


def test_what_is_nowhere_near_is_asked_of_the_hub(here: Path, asked: list[HubId]) -> None:
    for name in ("gpt2", "openai-community/gpt2", "a/b.c_d-1@refs/pr/3"):
        with pytest.raises(WeightsError, match="not in the cache, and the hub is switched off"):
            locate.resolve(name)
    assert asked == [HubId("gpt2"), HubId("openai-community/gpt2"), HubId("a/b.c_d-1", "refs/pr/3")]


def test_a_near_name_is_offered(embedded: Path, here: Path, asked: list[HubId]) -> None:
    (here / "my-model").mkdir()
    with pytest.raises(WeightsError, match="did you mean translator\\? Or the same once without HF_HUB_OFFLINE"):
        locate.resolve("transaltor")
    with pytest.raises(WeightsError, match="did you mean my-model"):
        locate.resolve("my-modle")
    with pytest.raises(WeightsError, match=f"did you mean {here}/my-model"):
        locate.resolve(f"{here}/my-modle")
    with pytest.raises(WeightsError, match="did you mean my-model"):
        locate.resolve(Path("my-modle"))
    assert [model.name for model in asked] == ["transaltor", "my-modle"]


def test_a_file_is_no_folder(here: Path, asked: list[HubId]) -> None:
    (here / "model.safetensors").write_bytes(b"")
    with pytest.raises(WeightsError, match="a file where a model's folder is needed"):
        locate.resolve("model.safetensors")
    assert asked == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "../secret",
        "a/../b",
        "/etc/nothing-here",
        "a/b/c",
        "a//b",
        "a\\b",
        "a--b",
        "-a",
        "a-",
        ".a/b",
        "a.git",
        "a b",
        "a\x00b",
        "a\nb",
        "ä/b",
        "https://huggingface.co/gpt2",
        "a" * 97,
        "a" * 5000,
        "\x1b[2J",
    ],
)
def test_names_that_lead_elsewhere_are_refused(here: Path, asked: list[HubId], name: str) -> None:
    with pytest.raises(WeightsError, match="no model of this name") as caught:
        locate.resolve(name)
    assert asked == []
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("revision", ["", "..", "../x", "a/../b", "/x", "x/", "a b", "a\\b", "a:b", "@", "x" * 201])
def test_revisions_that_lead_elsewhere_are_refused(here: Path, asked: list[HubId], revision: str) -> None:
    with pytest.raises(WeightsError, match="a revision that cannot be one"):
        locate.resolve(f"owner/name@{revision}")
    assert asked == []


def test_hub_ids_are_written_as_they_are_read() -> None:
    for text in ("gpt2", "owner/name", "owner/name@v1.0", "owner/name@refs/pr/3"):
        assert str(parse_hub_id(text)) == text
    assert str(parse_hub_id("owner/name@main")) == "owner/name"


def test_a_folder_needs_no_hub(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from clearhead.weights.locate import resolve; resolve(sys.argv[1])\n"
        "print({'huggingface_hub', 'torch', 'clearhead.weights.hub'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
