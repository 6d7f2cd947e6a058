"""The room's door opens quickly, and onto everything that it names."""

import importlib
import subprocess
import sys

import pytest

from clearhead import data


def test_importing_loads_no_library() -> None:
    code = "import sys, clearhead.data; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "clearhead" in loaded
    assert {"torch", "numpy", "tokenizers", "pydantic"} & set(loaded) == set()


@pytest.mark.parametrize("name", data.__all__)
def test_every_name_is_behind_the_door(name: str) -> None:
    assert name in dir(data)
    value = getattr(data, name)
    assert value.__module__.startswith("clearhead.data.")
    assert value.__name__ == name


def test_no_name_is_hidden_by_a_module() -> None:
    """A module that is imported becomes an attribute of its package, and would stand before a lazy name."""
    for name in data.__all__:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"clearhead.data.{name}")


def test_nothing_here_needs_torch() -> None:
    code = "import sys; from clearhead.data import *; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
