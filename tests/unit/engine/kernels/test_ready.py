"""Where compiled kernels lie, and for how long."""

import ast
import os
import time
from pathlib import Path

from clearhead.engine.kernels import ready


def test_what_other_versions_compiled_is_forgotten_once_nobody_uses_it(tmp_path: Path) -> None:
    long_ago = time.time() - 100 * 24 * 3600
    for name, used in {"kernels-own": long_ago, "kernels-old": long_ago, "kernels-new": time.time()}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "compiled").touch()
        os.utime(tmp_path / name / "compiled", (used, used))
    (tmp_path / "kernels-begun").mkdir()
    (tmp_path / "something else").mkdir()
    ready._forget_others(tmp_path / "kernels-own")
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {"kernels-own", "kernels-new", "kernels-begun", "something else"}


def test_kernels_are_compiled_anew_whichever_of_their_files_changes() -> None:
    folder, package = Path(ready.__file__).parent, "clearhead.engine.kernels"
    found: set[str] = set()
    left = [*ready._ENTRIES, ready._LEARNING]
    while left:
        name = left.pop()
        found.add(name)
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(package):
                names = [node.module.rpartition(".")[2]] if node.module != package else [one.name for one in node.names]
                left += [one for one in names if one not in found]
    assert set(ready._COMPILED) == found
