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


def test_a_folder_that_is_no_model_is_an_error_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert leave("export", str(tmp_path), "--out", str(tmp_path / "out")) == 1
    shown = capsys.readouterr().err
    assert "config.json" in shown
    assert "Traceback" not in shown
    assert not (tmp_path / "out").exists()
