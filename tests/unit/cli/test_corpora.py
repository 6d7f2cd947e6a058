"""Verbs on whole corpora in one process: tables and zipped files in and out, runs that go on, options that exclude."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from .tiny_folders import LABELS, Run

TEXTS = ["the cat", "", "sat on\nthe mat", "the mat", "is paris in france"]
TOO_LONG = "the cat " * 100


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{text}\n".replace("t\nt", "t t") for text in TEXTS))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "texts.parquet"
    pyarrow.parquet.write_table(pa.table({"id": range(5), "said": TEXTS}), path)
    return path


def rows(path: Path) -> list[dict]:
    return pyarrow.parquet.read_table(path).to_pylist()


def test_a_table_in_gives_lines_out_one_for_each_row(run: Run, folders: Path, table: Path, tmp_path: Path) -> None:
    given = ("classify", "-m", folders / "bert-labels", "--file", table, "--column", "said", "--chunk", 2)
    ran = run(*given)
    assert (ran.code, len(ran.lines)) == (0, len(TEXTS))
    assert "5 texts; 5 in " in ran.err
    assert " a second" in ran.err
    assert run(*given, "--out", tmp_path / "out.txt").code == 0
    assert (tmp_path / "out.txt").read_bytes().decode() == ran.out


def test_a_table_of_labels_has_the_texts_and_the_scores(run: Run, folders: Path, table: Path, tmp_path: Path) -> None:
    given = ("classify", "-m", folders / "bert-labels", "--file", table, "--column", "said", "--chunk", 2)
    records = run(*given, "--json").records
    ran = run(*given, "--out", tmp_path / "out.parquet")
    assert ran.code == 0
    assert f"wrote {tmp_path / 'out.parquet'}: 5 texts" in ran.err
    found = rows(tmp_path / "out.parquet")
    assert [row["said"] for row in found] == TEXTS
    best = [record["labels"][0] for record in records]
    assert [row["label"] for row in found] == [one["label"] for one in best]
    assert {row["label"] for row in found} <= set(LABELS)
    assert np.allclose([row["score"] for row in found], [one["score"] for one in best])


def test_lines_in_give_a_table_of_translations(run: Run, folders: Path, lines: Path, tmp_path: Path) -> None:
    given = ("translate", "-m", folders / "polyglot", "--to", "fr", "--max-new-tokens", 3, "--file", lines)
    plain = run(*given, "--chunk", 2)
    assert run(*given, "--chunk", 2, "--nbest", 2, "--out", tmp_path / "out.parquet").code == 0
    found = rows(tmp_path / "out.parquet")
    assert [row["text"] for row in found] == lines.read_text().splitlines()
    assert [row["translation"] for row in found] == plain.lines
    assert [row["alternatives"][0] for row in found if row["text"]] == [line for line in plain.lines if line]


def test_vectors_are_the_same_in_an_array_and_in_a_table(run: Run, folders: Path, table: Path, tmp_path: Path) -> None:
    given = ("embed", "-m", folders / "bert", "--file", table, "--column", "said", "--chunk", 2)
    assert run(*given, "--out", tmp_path / "out.npy").code == 0
    assert run(*given, "--out", tmp_path / "out.parquet").code == 0
    vectors = np.array([row["vector"] for row in rows(tmp_path / "out.parquet")], dtype=np.float32)
    assert (np.load(tmp_path / "out.npy") == vectors).all()


def test_zipped_in_and_zipped_out(run: Run, folders: Path, lines: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "lines.txt.gz"
    zipped.write_bytes(gzip.compress(lines.read_bytes()))
    given = ("classify", "-m", folders / "bert-labels", "--chunk", 2)
    plain = run(*given, "--file", lines)
    for name in ("one.gz", "two.gz"):
        assert run(*given, "--file", zipped, "--out", tmp_path / name).code == 0
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()).decode() == plain.out
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_what_was_stopped_goes_on_and_no_chunk_is_done_twice(run: Run, folders: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "texts.parquet", tmp_path / "out.txt"
    pyarrow.parquet.write_table(pa.table({"text": [*TEXTS, TOO_LONG]}), path)
    given = ("embed", "-m", folders / "bert", "--file", path, "--chunk", 2, "--out", out)
    ran = run(*given)
    assert ran.code == 1
    assert f"the 4 finished texts are kept in {out}.unfinished; the same command goes on from there" in ran.err
    assert f"{path}, row 6: " in ran.err
    kept = (tmp_path / "out.txt.unfinished").read_bytes()
    assert kept.count(b"\n") == 4
    # What is kept is marked, to be known again.
    (tmp_path / "out.txt.unfinished").write_bytes(kept.swapcase().replace(b".", b","))
    marked = (tmp_path / "out.txt.unfinished").read_bytes()
    assert run(*given).code == 1
    assert (tmp_path / "out.txt.unfinished").read_bytes() == marked
    ran = run(*given, "--truncate")
    assert ran.code == 1
    assert "an unfinished run made with other options" in ran.err
    (tmp_path / "out.txt.progress").unlink()
    ran = run(*given, "--truncate")
    assert (ran.code, out.read_bytes().count(b"\n")) == (0, 6)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.txt", "texts.parquet"]


def test_chunks_of_lines_are_worked_on_together(run: Run, folders: Path, lines: Path) -> None:
    given = ("classify", "-m", folders / "bert-labels", "--file", lines)
    assert run(*given, "--chunk", 2).lines == run(*given).lines


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--workers", 2, "x"], "--workers"),
        (["--address", "127.0.0.1:6379", "x"], "--address"),
        (["--engine", "ray", "x"], "--engine"),
        (["--engine", "ray", "--file", "-"], "--engine"),
        (["--engine", "ray", "--file", "/dev/null"], "--engine"),
        (["--out", "x.parquet", "x"], "--out"),
        (["--out", "x.gz", "x"], "--out"),
        (["--column", "text", "x"], "--column"),
        (["--json", "--out", "x.parquet", "--file", "LINES"], "--json"),
        (["--column", "label", "--out", "x.parquet", "--file", "y.parquet"], "--column"),
        (["--chunk", 0, "x"], "--chunk"),
        (["--engine", "dask", "x"], "--engine"),
    ],
)
def test_options_that_exclude_each_other(run: Run, lines: Path, options: list[object], hint: str) -> None:
    ran = run("classify", *(lines if option == "LINES" else option for option in options))
    assert ran.code == 2
    assert hint in ran.err
    assert "Traceback" not in ran.err


def test_a_file_that_is_not_there_is_said_before_ray_is_started(run: Run, tmp_path: Path) -> None:
    ran = run("classify", "--engine", "ray", "--file", tmp_path / "none.txt")
    assert ran.code == 1
    assert "a file that does not exist" in ran.err


def test_without_ray_the_message_says_how_to_get_it(
    run: Run, folders: Path, lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ran = run("classify", "-m", folders / "bert-labels", "--engine", "ray", "--file", lines)
    assert ran.code == 1
    assert "pip install 'clearhead[ray]'" in ran.err


@pytest.mark.parametrize("verb", ["translate", "classify", "embed"])
def test_a_verb_that_does_not_need_it_loads_nothing_of_it(verb: str) -> None:
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('LOADED', *sys.modules))\n"
        f"from clearhead.cli import main; main(['{verb}', '--help'])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = output.rpartition("LOADED")[2].split()
    assert f"clearhead.cli.{verb}" in loaded
    heavy = {"ray", "pyarrow", "pandas", "numpy", "torch", "logging", "clearhead.cli.corpora"}
    assert heavy & set(loaded) == set()
    assert [name for name in loaded if name.startswith("clearhead.corpora")] == []
