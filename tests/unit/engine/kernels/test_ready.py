"""Where compiled kernels lie, and for how long."""

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
