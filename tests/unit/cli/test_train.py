"""`clearhead train`: what it is told, before any training begins."""

from pathlib import Path

import pytest

from clearhead.cli.train import _overrides

from .tiny_folders import Run


def test_settings_stand_among_the_files() -> None:
    files, settings = _overrides(["a.tsv", "--train.lr", "3e-4", "b.tsv", "--model.n_layers=6"])
    assert files == ["a.tsv", "b.tsv"]
    assert settings == ["train.lr=3e-4", "model.n_layers=6"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "no file to learn from"),
        (["pairs.tsv", "--colour", "red"], 2, "no such option: --colour"),
        (["pairs.tsv", "--train.lr"], 2, "--train.lr needs a value"),
        (["--train.lr", "1"], 2, "no file to learn from"),
        (["pairs.tsv", "--task", "dance"], 2, "'dance' is not one of translate,"),
        (["pairs.tsv", "--preset", "huge"], 1, "tiny"),
        (["pairs.tsv", "--threads", "0"], 2, "--threads"),
        (["pairs.tsv", "--train.colour", "red"], 1, "colour"),
        (["pairs.tsv", "--config", "none.yaml"], 1, "none.yaml"),
        (["none.tsv"], 1, "none.tsv"),
    ],
)
def test_what_cannot_be_trained(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    ran = run("train", *arguments, "--out", tmp_path / "run")
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert "mistake in clearhead" not in ran.err


def test_a_plan_needs_neither_files_nor_a_folder(run: Run) -> None:
    ran = run("train", "--plan", "--cluster", "8xA100", "--price", "1", "--train.steps", "1000")
    assert ran.code == 0, ran.err
    assert "8 × A100" in ran.out and "FSDP" in ran.out and "limit" in ran.out
    ran = run("train", "--plan", "--cluster", "8xA101")
    assert ran.code == 1
    assert "a100" in ran.err
