"""`clearhead export`: a folder in, a folder out."""

from pathlib import Path

import pytest
import torch

import clearhead
from clearhead.cli import main
from clearhead.testing import TinyModel


def leave(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_an_export_is_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = TinyModel("marian")
    clearhead.Model.of(tiny.model, tokenizer=tiny.tokenizer).save_pretrained(tmp_path / "in")
    assert leave("export", str(tmp_path / "in"), "--out", str(tmp_path / "out")) == 0
    assert "marian model" in capsys.readouterr().out
    again = clearhead.load(tmp_path / "out")
    assert all(map(torch.equal, again.network.parameters(), tiny.model.parameters()))


def test_half_the_room_holds_the_same_model(tmp_path: Path) -> None:
    tiny = TinyModel("marian")
    folder = clearhead.Model.of(tiny.model, tokenizer=tiny.tokenizer).save_pretrained(tmp_path / "in")
    assert leave("export", str(folder), "--out", str(tmp_path / "half"), "--precision", "float16") == 0
    sizes = [(path / "model.safetensors").stat().st_size for path in (folder, tmp_path / "half")]
    assert sizes[1] < 0.6 * sizes[0]
    again = clearhead.load(tmp_path / "half")
    for ours, theirs in zip(again.network.parameters(), tiny.model.parameters(), strict=True):
        assert torch.equal(ours, theirs.half().float())


def test_an_unknown_precision_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = TinyModel("gpt2")
    folder = clearhead.Model.of(tiny.model, tokenizer=tiny.tokenizer).save_pretrained(tmp_path / "in")
    assert leave("export", str(folder), "--out", str(tmp_path / "out"), "--precision", "float8") == 1
    assert "float16" in capsys.readouterr().err


def test_a_folder_that_is_no_model_is_an_error_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert leave("export", str(tmp_path), "--out", str(tmp_path / "out")) == 1
    shown = capsys.readouterr().err
    assert "config.json" in shown
    assert "Traceback" not in shown
    assert not (tmp_path / "out").exists()
