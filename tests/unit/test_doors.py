"""Lazy doors: names appear when they are asked for, and not before."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import clearhead


def test_a_name_is_found_once_and_then_kept() -> None:
    first = clearhead.Recorder
    assert vars(clearhead)["Recorder"] is first


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Recoder'"):
        _ = clearhead.Recoder


def test_every_public_name_is_listed() -> None:
    assert set(clearhead.__all__) <= set(dir(clearhead))


@pytest.mark.parametrize("room", ["clearhead.text", "clearhead.weights", "clearhead.corpora"])
def test_a_lazy_room_opens_without_what_is_heavy(room: str) -> None:
    heavy = ["torch", "numpy", "tokenizers", "gensim", "sklearn", "pyarrow", "ray"]
    code = f"import sys, {room}; print(sorted({{*{heavy}}} & {{*sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("room", ["clearhead", "clearhead.text", "clearhead.weights", "clearhead.corpora"])
def test_what_type_checkers_see_is_what_the_doors_open(room: str) -> None:
    module = import_module(room)
    source = Path(module.__file__).read_text(encoding="utf-8")
    seen = {line.split(" as ")[1] for line in source.splitlines() if line.startswith("    from ") and " as " in line}
    assert seen == set(module.__all__)


@pytest.mark.parametrize("room", ["clearhead", "clearhead.text", "clearhead.weights", "clearhead.corpora"])
def test_no_door_has_the_name_of_a_module(room: str) -> None:
    module = import_module(room)
    # Importing a module puts it in its package under its own name, and would hide what the door opens.
    assert not {found.name for found in iter_modules(module.__path__)} & set(module.__all__)
