"""`clearhead embed`: vectors as lines, as JSON, as one array."""

from pathlib import Path

import numpy as np

from clearhead import tasks

from .tiny_folders import SIZE, Run

TEXTS = ["the cat", "", "the mat on the cat"]


def expected(folders: Path) -> np.ndarray:
    return tasks.embed(tasks.Loaded.open(folders / "bert"), TEXTS)


def test_lines_and_json_give_the_same_float32_again(run: Run, folders: Path) -> None:
    vectors = np.vstack([expected(folders)])
    plain, ran = run("embed", "-m", folders / "bert", *TEXTS), run("embed", "-m", folders / "bert", *TEXTS, "--json")
    read = np.array([line.split() for line in plain.lines], dtype=np.float32)
    assert np.allclose(read, vectors, atol=1e-6)
    assert (np.array([record["vector"] for record in ran.records], dtype=np.float32) == read).all()
    assert [record["text"] for record in ran.records] == TEXTS


def test_an_array(run: Run, folders: Path, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(TEXTS * 7))
    ran = run("embed", "-m", folders / "bert", "--file", lines, "--out", path)
    assert ran == (0, "", f"wrote {path}: {7 * len(TEXTS)} vectors\n")
    found = np.load(path)
    assert found.dtype == np.float32
    assert np.allclose(found, np.vstack([expected(folders)] * 7), atol=1e-6)


def test_an_array_of_nothing(run: Run, folders: Path, tmp_path: Path) -> None:
    assert run("embed", "-m", folders / "bert", "--out", tmp_path / "none.npy").code == 0
    assert np.load(tmp_path / "none.npy").shape == (0, SIZE.width)


def test_an_array_keeps_what_was_finished(run: Run, folders: Path, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    ran = run("embed", "-m", folders / "bert", "the cat", "the mat", "the cat " * 100, "--out", path)
    assert ran.code == 1
    assert f"the 2 finished lines are kept in {path}" in ran.err
    assert np.load(path).shape == (2, SIZE.width)


def test_an_array_is_not_json(run: Run, folders: Path, tmp_path: Path) -> None:
    assert run("embed", "-m", folders / "bert", "x", "--json", "--out", tmp_path / "x.npy").code == 2
