"""`clearhead doctor`: measured, and said."""

import json
import re

import pytest

import clearhead
from clearhead.cli import doctor

from .tiny_folders import Run


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less to measure; the same way."""
    monkeypatch.setattr(doctor, "_MEGABYTES", 1)
    monkeypatch.setattr(doctor, "_SIDE", 64)


def test_people_and_programs_are_told_the_same(run: Run) -> None:
    plain, found = run("doctor"), json.loads(run("doctor", "--json").out)
    assert plain.code == 0
    assert [line.split("  ")[0] for line in plain.lines] == list(found)
    assert found["clearhead"] == clearhead.__version__
    assert any(re.fullmatch(r"torch \d+\..*", each) for each in found["libraries"])
    assert re.fullmatch(r"\d+\.\d GB/s read", found["bandwidth"])
    assert re.fullmatch(r"\d+ GFLOP/s in float32", found["matrix products"])
    assert not any("missing" in each for each in found["libraries"])
    assert not {each.split()[0] for each in found["optional"]} & set(found["not installed"])


@pytest.mark.parametrize("word", ["flags", "Features"])
def test_the_features_of_either_kind_of_processor(run: Run, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr(doctor, "_processor", lambda: {word: "fp avx2 asimd", "model name": "a chip"})
    found = json.loads(run("doctor", "--json").out)
    assert found["features"] == ["avx2", "asimd"]
