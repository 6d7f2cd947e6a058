"""The import contracts hold, and would be broken by what they forbid."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

VIOLATIONS = {
    "upward": ("probe.py", "import clearhead.nn\n", ["clearhead.probe", "clearhead.nn"]),
    "upward, in a function": (
        "config/__init__.py",
        "def late():\n    from clearhead.models import build\n\n    return build\n",
        ["clearhead.config", "clearhead.models"],
    ),
    "sideways": ("axes.py", "import clearhead.errors\n", ["clearhead.axes", "clearhead.errors"]),
    "torch": ("text/__init__.py", "import torch\n", ["clearhead.text", "torch"]),
    "torch, for types only": (
        "probe.py",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from torch import Tensor\n",
        ["clearhead.probe", "torch"],
    ),
    "the reference": ("models/__init__.py", "import transformers\n", ["clearhead.models", "transformers"]),
    "an unlisted room": ("attic.py", "", ["attic"]),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(
        [command, "--no-logo", "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignore = shutil.ignore_patterns("__pycache__", "pretrained", "static")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_a_forbidden_import_is_found_and_named(copy: Path, violation: str) -> None:
    file, code, names = VIOLATIONS[violation]
    with (copy / "src/clearhead" / file).open("a") as source:
        source.write("\n\n" + code)
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    assert [name for name in names if name not in result.stdout] == []


def test_only_unbuilt_rooms_stand_in_parentheses() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = " | ".join(project["tool"]["importlinter"]["contracts"][0]["layers"])
    unbuilt = set(re.findall(r"\((\w+)\)", layers))
    built = set(re.findall(r"\w+", layers)) - unbuilt
    assert built == rooms()


def rooms() -> set[str]:
    house = ROOT / "src/clearhead"
    files = {path.stem for path in house.glob("*.py") if not path.stem.startswith("__")}
    return files | {path.parent.name for path in house.glob("*/__init__.py")}
