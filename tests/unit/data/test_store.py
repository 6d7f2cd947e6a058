"""A token store gives back what was written, or says that it is damaged."""

import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clearhead.data import TokenStore, writing
from clearhead.errors import TextError


def test_what_was_written_is_read(tmp_path: Path) -> None:
    values = {"origin": 1, "score": 1, "label": 1, "teacher": 3}
    with writing(tmp_path / "store", fields={"source": 100, "target": 70_000}, values=values) as writer:
        writer.append({"source": [1, 2, 3], "target": [69_999]}, origin=0, score=0.5, label=2, teacher=[1.0, 2.0, 3.0])
        writer.append({"source": [], "target": np.array([4, 5])}, origin=1, score=-1, label=0, teacher=np.zeros(3))
    store = TokenStore(folder=tmp_path / "store")
    assert (len(store), store.fields, store.n_tokens) == (2, ("source", "target"), 6)
    assert [store.ids("source", row).tolist() for row in range(2)] == [[1, 2, 3], []]
    assert [store.ids("target", row).tolist() for row in range(2)] == [[69_999], [4, 5]]
    assert store.ids("source", 0).dtype == np.uint16
    assert store.ids("target", 0).dtype == np.uint32
    assert store.lengths("target").tolist() == [1, 2]
    assert store.stream("target").tolist() == [69_999, 4, 5]
    assert store.values("score").tolist() == [0.5, -1]
    assert store.values("label").tolist() == [2, 0]
    assert store.values("teacher").tolist() == [[1, 2, 3], [0, 0, 0]]
    assert store.has("teacher")
    assert not store.has("missing")


def test_a_store_without_records(tmp_path: Path) -> None:
    with writing(tmp_path / "store", fields={"text": 10}):
        pass
    store = TokenStore(folder=tmp_path / "store")
    assert (len(store), store.lengths("text").tolist()) == (0, [])


def test_it_cannot_be_written_to(store: Callable[..., TokenStore]) -> None:
    with pytest.raises(ValueError, match="read-only"):
        store([{"text": [1, 2]}]).ids("text", 0)[0] = 5


def test_many_records_survive_the_buffers(store: Callable[..., TokenStore]) -> None:
    rng = np.random.default_rng(0)
    rows = [{"text": rng.integers(0, 1000, rng.integers(0, 200)).tolist()} for _ in range(3000)]
    found = store(rows)
    assert [found.ids("text", row).tolist() for row in range(len(rows))] == [row["text"] for row in rows]


@pytest.mark.parametrize("wrong", [1000, -1])
def test_an_id_beyond_the_vocabulary_is_our_mistake(store: Callable[..., TokenStore], wrong: int) -> None:
    with pytest.raises(AssertionError, match="beyond the vocabulary"):
        store([{"text": [1, wrong]}])


def test_a_writer_that_fails_leaves_the_store_before_it(store: Callable[..., TokenStore], tmp_path: Path) -> None:
    store([{"text": [1, 2]}])

    def fail() -> None:
        with writing(tmp_path / "store", fields={"text": 10}) as writer:
            writer.append({"text": [3]})
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert TokenStore(folder=tmp_path / "store").ids("text", 0).tolist() == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_store_is_replaced_and_leftovers_go(store: Callable[..., TokenStore], tmp_path: Path) -> None:
    for name in (".store.0123abcd.tmp", ".store.0123abcd.old", ".store.notes", ".other.0123abcd.tmp"):
        (tmp_path / name).mkdir()
    store([{"text": [1, 2]}])
    assert (tmp_path / ".store.0123abcd.old").exists()
    assert store([{"text": [3]}]).ids("text", 0).tolist() == [3]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.0123abcd.tmp", ".store.notes", "store"]


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(TextError, match="no token store"), writing(tmp_path, fields={"text": 10}):
        pass
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TextError, match="cannot be written"), writing(tmp_path / "file/store", fields={"text": 10}):
        pass


@pytest.mark.parametrize("name", ["text.ids", "text.offsets", "origin.values", "header.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "longer"])
def test_a_damaged_file_is_named(store: Callable[..., TokenStore], name: str, damage: str) -> None:
    path = store([{"text": [1, 2]}, {"text": [3]}]).folder / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        changed = bytes([content[0] ^ 1]) + content[1:]
        path.write_bytes({"cut": content[:-1], "changed": changed, "longer": content + b"\0"}[damage])
    with pytest.raises(TextError) as caught:
        TokenStore(folder=path.parent)
    assert str(path if damage != "gone" or name != "header.json" else path.parent) in str(caught.value)


HEADERS = {
    "negative": {"n_records": -1},
    "too many": {"n_records": 10**30},
    "not the records that there are": {"n_records": 1},
    "another format": {"format": "zip"},
    "a later version": {"version": 2},
    "a path": {"fields": {"../text": 1000}},
    "no fields": {"fields": {}, "values": {}, "files": {}},
    "an unknown value": {"values": {"origin": 1, "secret": 1}},
    "wide values": {"values": {"origin": 2}},
    "an unknown key": {"colour": "red"},
    "text for a number": {"n_records": "2"},
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_lies_is_refused(store: Callable[..., TokenStore], case: str) -> None:
    path = store([{"text": [1, 2]}, {"text": [3]}]).folder / "header.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **HEADERS[case]}))
    with pytest.raises(TextError, match="damaged"):
        TokenStore(folder=path.parent)


def test_offsets_that_point_back_are_refused(store: Callable[..., TokenStore]) -> None:
    folder = store([{"text": [1]}, {"text": [2, 3]}]).folder
    offsets = np.array([0, 5, 3], "<i8").tobytes()
    header = json.loads((folder / "header.json").read_text())
    header["files"]["text.offsets"]["crc32"] = zlib.crc32(offsets)
    (folder / "text.offsets").write_bytes(offsets)
    (folder / "header.json").write_text(json.dumps(header))
    with pytest.raises(TextError, match="points back"):
        TokenStore(folder=folder)


WRITE = """
import sys
from pathlib import Path
from clearhead.data import writing

def peak():
    # Not ru_maxrss: a process inherits that from the one that started it.
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

row = list(range(1000))
with writing(Path(sys.argv[1]), fields={"text": 1000}) as writer:
    for number in range(3000):
        writer.append({"text": row})
        if number == 500:
            before = peak()
    print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the system does not tell a process its peak")
def test_memory_does_not_grow_with_the_store(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", WRITE, str(tmp_path / "store")]
    grown = int(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    assert TokenStore(folder=tmp_path / "store").n_tokens == 3_000_000
    assert grown < 2000  # kilobytes; the ids alone are 6,000
