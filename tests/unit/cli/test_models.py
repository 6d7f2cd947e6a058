"""`clearhead models`: a table that fits, and the same for a program."""

import json
from pathlib import Path

import pytest
import torch

from clearhead.cli import main
from clearhead.cli.models import _rounded
from clearhead.weights import locate
from clearhead.weights.tensors import write_tensors


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(locate, "PRETRAINED", tmp_path / "nothing")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "nothing"))
    return tmp_path


def make(folder: Path, *, family: str = "gpt2") -> None:
    write_tensors(folder, {"w": torch.ones(500, 300)})
    (folder / "config.json").write_text(json.dumps({"model_type": family}))
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["models", *arguments])
    return int(caught.value.code or 0), *capsys.readouterr()


def test_a_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(here / "mine")
    make(here / "other", family="a-family-with-a-long-name")
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "name   family        params    size  licence  where",
        "mine   gpt2            150k  600 kB  mit      local",
        "other  a-family-wi…    150k  600 kB  mit      local",
    ]


def test_no_line_is_wider_than_the_terminal_but_a_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "a-model-" * 12
    make(here / long)
    make(here / "\x1b[2J")
    make(here / "cut")
    (here / "cut" / "model.safetensors").write_bytes(b"")
    (here / "pickled").mkdir()
    (here / "pickled" / "config.json").write_text("{}")
    (here / "pickled" / "pytorch_model.bin").write_bytes(b"")
    _, out, _ = run(capsys)
    assert long in out.splitlines()
    assert all(len(line) <= 80 for line in out.splitlines() if line != long)
    assert "  cannot be loaded: a weight file that is cut off" in out.splitlines()
    assert "\x1b" not in out


def test_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(here / "place" / "mine")
    _, out, _ = run(capsys, "place", "--json")
    told = json.loads(out)
    assert told.pop("bytes") > 600_000
    assert told == {
        "name": "place/mine",
        "family": "gpt2",
        "parameters": 150_000,
        "licence": "mit",
        "where": "local",
        "folder": str(here / "place" / "mine"),
        "problem": None,
    }


def test_nothing_and_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, out) == (0, "")
    assert "no models here yet" in err
    assert run(capsys, "--json") == (0, "", "")
    code, _, err = run(capsys, "nowhere")
    assert code == 1
    assert "nowhere" in err


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1234, "1.23k"),
        (999_999, "1M"),
        (124_439_808, "124M"),
        (1_235_814_400, "1.24B"),
        (70_553_706_496, "70.6B"),
        (10**15, "1000000B"),
    ],
)
def test_numbers_are_short(number: int, text: str) -> None:
    assert _rounded(number, ("", "k", "M", "B")) == text
