"""An output grows chunk by chunk, goes on where it was stopped, and has its name when it is whole."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from clearhead.corpora import Array, Growing, Lines, Table, batch_bytes
from clearhead.errors import TextError

TERMS = {"model": "tiny", "chunk": 2}


def grow(path: Path, *payloads: bytes, terms: dict = TERMS) -> Growing:
    growing = Growing(path=path, layout=Lines(), terms=terms)
    for number, payload in enumerate(payloads, start=growing.n_chunks):
        growing.append(payload, number=number, n_texts=2)
    return growing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_its_name_when_it_is_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    with grow(tmp_path / "out", b"a\nb\n", b"c\nd\n") as growing:
        assert not (tmp_path / "out").exists()
        growing.finish()
    assert (tmp_path / "out").read_bytes() == b"a\nb\nc\nd\n"
    assert names(tmp_path) == ["out"]


def test_what_was_stopped_goes_on(tmp_path: Path) -> None:
    with grow(tmp_path / "out", b"a\nb\n"):
        pass
    assert names(tmp_path) == ["out.progress", "out.unfinished"]
    with grow(tmp_path / "out", b"c\nd\n") as growing:
        assert (growing.n_chunks, growing.n_texts, growing.n_texts_before) == (2, 4, 2)
        growing.finish()
    assert (tmp_path / "out").read_bytes() == b"a\nb\nc\nd\n"


def test_what_was_not_noted_is_cut_off(tmp_path: Path) -> None:
    with grow(tmp_path / "out", b"a\nb\n"):
        pass
    with (tmp_path / "out.unfinished").open("ab") as stream:
        stream.write(b"half of a l")
    with grow(tmp_path / "out", b"c\nd\n") as growing:
        growing.finish()
    assert (tmp_path / "out").read_bytes() == b"a\nb\nc\nd\n"


def test_a_note_of_more_than_there_is_begins_again(tmp_path: Path) -> None:
    with grow(tmp_path / "out", b"a\nb\n", b"c\nd\n"):
        pass
    (tmp_path / "out.unfinished").write_bytes(b"a\n")
    with grow(tmp_path / "out") as growing:
        assert growing.n_chunks == 0


def test_nothing_finished_leaves_nothing(tmp_path: Path) -> None:
    with grow(tmp_path / "out"):
        pass
    assert names(tmp_path) == []


def test_a_run_that_is_killed_goes_on_from_its_last_note(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time; from pathlib import Path\n"
        "from clearhead.corpora import Growing, Lines\n"
        f"growing = Growing(path=Path(sys.argv[1]), layout=Lines(), terms={TERMS})\n"
        "growing._noted = -1e9\n"  # the first chunk is noted, the second is not
        "growing.append(b'a\\nb\\n', number=0, n_texts=2)\n"
        "growing.append(b'c\\nd\\n', number=1, n_texts=2)\n"
        "growing._stream.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (tmp_path / "out.unfinished").read_bytes() == b"a\nb\nc\nd\n"
    with grow(tmp_path / "out", b"C\nD\n") as growing:
        assert growing.n_texts_before == 2
        growing.finish()
    assert (tmp_path / "out").read_bytes() == b"a\nb\nC\nD\n"


def test_other_terms_are_refused_and_say_which(tmp_path: Path) -> None:
    with grow(tmp_path / "out", b"a\nb\n"):
        pass
    with pytest.raises(TextError, match="made with other options") as caught:
        grow(tmp_path / "out", terms={**TERMS, "chunk": 3})
    assert "chunk was 2" in str(caught.value)
    assert "model" not in caught.value.got
    assert (tmp_path / "out.unfinished").read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("note", ["{", "[]", json.dumps({"chunks": 1, "texts": 1, "terms": {}})])
def test_notes_that_cannot_be_read_are_refused(tmp_path: Path, note: str) -> None:
    (tmp_path / "out.unfinished").write_bytes(b"a\n")
    (tmp_path / "out.progress").write_text(note)
    with pytest.raises(TextError, match="notes of an unfinished run"):
        grow(tmp_path / "out")


def test_two_runs_cannot_write_one_file(tmp_path: Path) -> None:
    with grow(tmp_path / "out", b"a\nb\n"), pytest.raises(TextError, match="another run is writing"):
        grow(tmp_path / "out")
    assert names(tmp_path) == ["out.progress", "out.unfinished"]


def test_a_folder_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="cannot be written"):
        grow(tmp_path / "none" / "out")


def test_a_link_stays_a_link_and_a_mode_a_mode(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("former")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "out").symlink_to(tmp_path / "real")
    with grow(tmp_path / "out", b"a\nb\n") as growing:
        growing.finish()
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"a\nb\n"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_vectors_become_the_array_that_numpy_writes(tmp_path: Path) -> None:
    rows = np.arange(12, dtype="<f4").reshape(4, 3)
    for half in (rows[:2], rows[2:]):
        with Growing(path=tmp_path / "out.npy", layout=Array(), terms=TERMS) as growing:
            growing.append(half.tobytes(), number=growing.n_chunks, n_texts=2)
            if growing.n_texts == 4:
                growing.finish()
    known = io.BytesIO()
    np.save(known, rows)
    assert (tmp_path / "out.npy").read_bytes() == known.getvalue()


def test_batches_become_a_table(tmp_path: Path) -> None:
    columns = {"text": "string", "vector": "list<float32>"}
    rows = [{"text": f"é{number}", "vector": [number, 0.5]} for number in range(4)]
    for half in (rows[:2], rows[2:]):
        with Growing(path=tmp_path / "out.parquet", layout=Table(columns=columns), terms=TERMS) as growing:
            growing.append(batch_bytes(columns, half), number=growing.n_chunks, n_texts=2)
            if growing.n_texts == 4:
                growing.finish()
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.to_pylist() == rows
    assert names(tmp_path) == ["out.parquet"]


def test_a_table_may_be_empty(tmp_path: Path) -> None:
    with Growing(path=tmp_path / "out.parquet", layout=Table(columns={"text": "string"}), terms=TERMS) as growing:
        growing.finish()
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert (table.num_rows, table.column_names) == (0, ["text"])
