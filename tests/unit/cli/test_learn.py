"""`clearhead learn` prints, draws and refuses as it says."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clearhead.cli import app
from clearhead.lessons import EXAMPLES

FIGURES = {"E1-pattern", "E2-waves", "E4-pattern", "E6-heads", "E6-one-head", "E7-two-banks", "E10-cross", "E12-leak"}


def learn(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["learn", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_e6_prints_both_versions_to_eight_decimals_and_draws_its_heads() -> None:
    code, out, _ = learn("E6")
    assert code == 0
    assert "-4.37999318  -1.99506183  -2.05712457  -0.08937276  -1.72769596" in out
    assert "-4.31502585  -3.90981072  -2.11083877  -1.51211468  -1.90636801" in out
    assert "head 9" in out
    assert "\x1b" not in out
    assert "E1 " not in out


def test_all_examples_and_all_pictures(tmp_path: Path) -> None:
    code, out, _ = learn("--out", str(tmp_path / "demo"))
    assert code == 0
    assert [key for key in EXAMPLES if f"\n{key}  " not in "\n" + out] == []
    assert "≠ the notes print\n    0.089  0.659" in out
    assert "What to try next" in out
    files = {path.name for path in (tmp_path / "demo").iterdir()}
    assert files == {f"{name}{ending}" for name in FIGURES for ending in (".svg", ".png")} | {"index.html"}
    page = (tmp_path / "demo" / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == len(FIGURES)


@pytest.mark.parametrize("name", ["heads.svg", "heads.png", "heads.html"])
def test_one_picture(tmp_path: Path, name: str) -> None:
    code, out, _ = learn("e6", "--out", str(tmp_path / name))
    assert code == 0
    assert f"wrote {tmp_path / name}" in out
    assert (tmp_path / name).stat().st_size > 1000


def test_json_is_one_object_a_line() -> None:
    code, out, _ = learn("E4", "--json")
    assert code == 0
    example = json.loads(out)
    pattern = next(result for result in example["results"] if result["name"] == "masked pattern")
    assert pattern["agrees"] is False
    assert pattern["printed"][1] == [0.491, 0.509, 0.0]
    assert pattern["computed"][1][:2] == pytest.approx([0.4938, 0.5062], abs=5e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["E99"], "E1, E2, E3"),
        (["E9", "--out", "x.svg"], "E9 has no picture"),
        (["--out", "x.svg"], "name its example"),
    ],
)
def test_wrong_usage_is_exit_2(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = learn(*arguments)
    assert code == 2
    assert message in err
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_of_picture_is_a_failure(tmp_path: Path) -> None:
    code, _, err = learn("E6", "--out", str(tmp_path / "heads.pdf"))
    assert code == 1
    assert ".svg, .png, .html" in err
