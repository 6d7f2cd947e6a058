"""`clearhead verify`: the verdict of a folder, on both sides of the tolerance."""

import json
import sys
from pathlib import Path

import pytest
import torch

from clearhead.cli import main
from clearhead.errors import TextError
from clearhead.models import EncoderDecoder
from clearhead.testing import TinyModel
from clearhead.testing import verify as room
from clearhead.weights import Checkpoint, family_of, load_checkpoint, save_checkpoint

from .specimen import Specimen

WIDTH = 80


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["verify", *map(str, arguments)])
    return int(caught.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A tiny model with a tokenizer, of the architecture that a test asks for."""
    tiny = TinyModel(getattr(request, "param", "marian"))
    checkpoint = Checkpoint(model=tiny.model, family=family_of(tiny.config), foreign={}, generation={})
    save_checkpoint(checkpoint, tmp_path)
    tiny.tokenizer.save(tmp_path)
    return tmp_path


def test_every_family_and_head_passes(specimen: Specimen) -> None:
    verdict = room.verify(specimen.folder)
    assert verdict.passes
    assert verdict.ids_from.startswith("ids drawn at random")
    assert (verdict.family, verdict.kind) == (specimen.case.family, specimen.case.kind)
    assert verdict.agree in (None, verdict.n_choices)


@pytest.mark.parametrize("folder", ["gpt2", "llama", "bert", "distilbert", "t5", "flan-t5", "marian"], indirect=True)
def test_a_table_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "PASS"
    assert all(len(line) <= WIDTH for line in printed[1:])
    assert any("ids by the folder's own tokenizer" in line for line in printed)
    shown = {line.split()[0] for line in printed if line}
    config = load_checkpoint(folder).config
    for name, stack in (("encoder", config.encoder), ("decoder", config.decoder)):
        for index in range(stack.n_layers if stack else 0):
            assert {f"{name}.{index}.self.pattern", f"{name}.{index}.resid_post"} <= shown
            assert (f"{name}.{index}.cross.pattern" in shown) is (name == "decoder" and config.encoder is not None)
    assert "logits" in shown


def test_an_object_for_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--json", "--text", "A cat.", "--text", "A dog sat.") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passes"] is True
    assert found["tokens"] == [len("A cat."), len("A dog sat.")]
    assert found["same_choice"] == found["choices"] == sum(found["tokens"])
    assert {site["site"] for site in found["sites"]} >= {"encoder.0.ffn.hidden", "decoder.1.cross.score", "logits"}
    assert all(site["deviation"] <= site["allowed"] for site in found["sites"])


def test_every_site_where_all_are_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--all") == 0
    assert "decoder.1.ffn.hidden" in capsys.readouterr().out


@torch.no_grad()
def test_a_difference_is_a_failure_that_names_its_first_site(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tampered(path: Path) -> Checkpoint:
        checkpoint = load_checkpoint(path)
        assert isinstance(checkpoint.model, EncoderDecoder)
        checkpoint.model.decoder.blocks[1].ffn.up.weight[0, 0] += 1
        return checkpoint

    monkeypatch.setattr(room, "load_checkpoint", tampered)
    assert run(folder) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith("FAIL: ")
    assert printed[-1].endswith("the first is decoder.1.ffn.hidden")
    assert [line for line in printed if line.startswith("decoder.1.ffn.hidden") and line.endswith("too far")]
    assert run(folder, "--json") == 1
    assert json.loads(capsys.readouterr().out)["passes"] is False


def test_texts_need_a_tokenizer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert run(folder, "--text", "A cat.") == 1
    assert "without a tokenizer" in capsys.readouterr().err
    assert run(folder) == 0
    assert "drawn at random" in capsys.readouterr().out


def test_an_empty_text_is_refused(folder: Path) -> None:
    with pytest.raises(TextError, match="without a token"):
        room.verify(folder, [""])


def test_without_the_reference_it_says_how_to_get_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert run(folder) == 1
    assert "pip install 'clearhead[verify]'" in capsys.readouterr().err


def test_a_folder_that_the_reference_cannot_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"activation_function": "nonsense"}))
    assert run(folder) == 1
    assert "Traceback" not in capsys.readouterr().err
