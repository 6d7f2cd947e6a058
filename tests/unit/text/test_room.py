"""The room's door opens quickly, and onto everything that it names."""

import subprocess
import sys

import pytest

from clearhead import text


def test_importing_loads_no_library() -> None:
    code = "import sys, clearhead.text; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "clearhead" in loaded
    assert {"torch", "numpy", "tokenizers", "sklearn", "gensim"} & set(loaded) == set()


@pytest.mark.parametrize("name", text.__all__)
def test_every_name_is_behind_the_door(name: str) -> None:
    assert name in dir(text)
    value = getattr(text, name)
    assert value.__module__.startswith("clearhead.text.")
    assert value.__name__ == name


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'teleport'"):
        text.teleport  # noqa: B018
