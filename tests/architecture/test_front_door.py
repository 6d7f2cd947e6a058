"""`import clearhead` is cheap, and everything that a door promises is behind it."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import clearhead

MOST_SECONDS = 0.3
TRIES = 10
HEAVY = {"torch", "numpy", "scipy", "sklearn", "gensim", "tokenizers", "transformers", "pydantic", "rich", "typer"}

HOUSE = Path(clearhead.__file__).parent
MODULES = sorted(
    ".".join(("clearhead", *path.relative_to(HOUSE).with_suffix("").parts)).removesuffix(".__init__")
    for path in HOUSE.rglob("*.py")
    if path.name != "__main__.py"
)
ROOMS = [name for name in MODULES if name.count(".") == 1]


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_loads_nothing_heavy() -> None:
    loaded = fresh("import sys, clearhead; print(*{name.partition('.')[0] for name in sys.modules})").split()
    assert "clearhead" in loaded
    assert HEAVY & set(loaded) == set()


def test_importing_is_fast() -> None:
    timed = "import time; start = time.perf_counter(); import clearhead; print(time.perf_counter() - start)"
    # A busy machine slows some runs; a slow import slows them all.
    seconds = [float(fresh(timed))]
    while min(seconds) >= MOST_SECONDS and len(seconds) < TRIES:
        seconds.append(float(fresh(timed)))
    assert min(seconds) < MOST_SECONDS


@pytest.mark.parametrize("name", clearhead.__all__)
def test_the_front_door_opens(name: str) -> None:
    assert getattr(clearhead, name) is not None
    assert name in dir(clearhead)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'transmogrify'"):
        clearhead.transmogrify  # noqa: B018


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_resolves(name: str) -> None:
    module = importlib.import_module(name)
    public = getattr(module, "__all__", [])
    assert [missing for missing in public if not hasattr(module, missing)] == []
    assert len(set(public)) == len(public)


@pytest.mark.parametrize("name", ROOMS)
def test_every_room_says_what_is_public(name: str) -> None:
    assert importlib.import_module(name).__all__
