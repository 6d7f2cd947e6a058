"""Index folders that are broken, or made to break their reader."""

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import ClearheadError, WeightsError
from clearhead.tasks.index import Index, Passage

WIDTH = 4
N_PASSAGES = 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    passages = [Passage(f"passage {row}", "a.txt", row + 1) for row in range(N_PASSAGES)]
    Index.build(tmp_path / "index", passages, lambda texts: rng.standard_normal((len(texts), WIDTH)), model="m")
    return tmp_path / "index"


def use(folder: Path) -> None:
    Index.load(folder).search(np.ones(WIDTH), N_PASSAGES)


def manifest(**changes: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "index.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def without(name: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "index.json"
        fields = json.loads(path.read_text())
        del fields[name]
        path.write_text(json.dumps(fields))

    return change


def content(name: str, raw: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(raw)


def shorter(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-1])


def vector(value: float) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        vectors = np.fromfile(folder / "vectors.f32", "<f4")
        vectors[9] = value
        vectors.tofile(folder / "vectors.f32")

    return change


def offset(row: int, value: int) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        ends = np.fromfile(folder / "offsets.i64", "<i8")
        ends[row] = value
        ends.tofile(folder / "offsets.i64")

    return change


def record(text: str) -> Callable[[Path], object]:
    """The first passage's line replaced by another, padded to its length."""

    def change(folder: Path) -> None:
        path = folder / "passages.jsonl"
        first, rest = path.read_bytes().split(b"\n", 1)
        assert len(text) <= len(first)
        path.write_bytes(text.encode().ljust(len(first)) + b"\n" + rest)

    return change


def replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return change


BROKEN: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda folder: (folder / "index.json").unlink(),
    "an empty manifest": content("index.json", b""),
    "not JSON": content("index.json", b"{" * 1000),
    "a list": content("index.json", b"[]"),
    "a giant manifest": content("index.json", b" " * 2**20),
    "a manifest that is a folder": replaced("index.json", lambda path: path.mkdir()),
    "a manifest that is a pipe": replaced("index.json", os.mkfifo),
    "a manifest that never ends": replaced("index.json", lambda path: path.symlink_to("/dev/zero")),
    "another format": manifest(format="faiss"),
    "another version": manifest(version=2),
    "an unknown field": manifest(extra=1),
    "no width": without("width"),
    "no count": without("count"),
    "no model": without("model"),
    "width zero": manifest(width=0),
    "a negative width": manifest(width=-4),
    "a giant width": manifest(width=10**30),
    "a width that does not fit": manifest(width=WIDTH + 1),
    "count zero": manifest(count=0),
    "a negative count": manifest(count=-1),
    "a giant count": manifest(count=10**30),
    "a count that does not fit": manifest(count=N_PASSAGES + 1),
    "a count that is text": manifest(count="6"),
    "a count that is a truth value": manifest(count=True),
    "a count that is a fraction": manifest(count=6.0),
    "fewer than the offsets say": manifest(count=N_PASSAGES - 1),
    "giant passages": manifest(passage_bytes=2**61),
    "fewer bytes than the offsets say": manifest(passage_bytes=100),
    "a model that is a list": manifest(model=["m"]),
    "a model that clears the screen": manifest(model="\x1b[2J"),
    "a model that is half a character": manifest(model="\ud83d"),
    "a giant name": manifest(fingerprint="x" * 5000),
    "vectors cut short": shorter("vectors.f32"),
    "offsets cut short": shorter("offsets.i64"),
    "passages cut short": shorter("passages.jsonl"),
    "no vectors": lambda folder: (folder / "vectors.f32").unlink(),
    "vectors that are a folder": replaced("vectors.f32", lambda path: path.mkdir()),
    "vectors that are a pipe": replaced("vectors.f32", os.mkfifo),
    "vectors that never end": replaced("vectors.f32", lambda path: path.symlink_to("/dev/zero")),
    "passages from elsewhere": replaced("passages.jsonl", lambda path: path.symlink_to("/etc/passwd")),
    "NaN": vector(np.nan),
    "infinity": vector(-np.inf),
    "a giant number": vector(3e38),
    "a vector that always wins": vector(5),
    "offsets that run backwards": offset(2, 10),
    "offsets that stand still": offset(0, 0),
    "a negative offset": offset(3, -1),
    "a giant offset": offset(3, 2**62),
    "a last offset beyond the passages": offset(N_PASSAGES - 1, 2**40),
    "an offset within a passage": offset(2, 100),
    "passages that are not JSON": record("passage"),
    "a passage that is a list": record("[]"),
    "a passage without a line": record('{"text":"","path":""}'),
    "a passage with more": record('{"text":"","path":"","line":1,"x":1}'),
    "a text that is a number": record('{"text":1,"path":"","line":1}'),
    "a line that is text": record('{"text":"","path":"","line":"1"}'),
    "a line that is a truth value": record('{"text":"","path":"","line":true}'),
    "a negative line": record('{"text":"","path":"","line":-1}'),
    "half a character": record('{"text":"\\ud83d","path":"","line":1}'),
    "a line of too many digits": record('{"text":"","path":"","line":9e99}'),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_index_is_refused(folder: Path, case: str) -> None:
    use(folder)
    BROKEN[case](folder)
    with pytest.raises(WeightsError) as caught:
        use(folder)
    assert "\x1b" not in str(caught.value)


FILES = ["vectors.f32", "passages.jsonl", "offsets.i64"]


@pytest.mark.parametrize("name", FILES)
def test_an_index_whose_files_are_elsewhere_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(WeightsError, match="no links"):
        use(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_build_never_writes_through_a_link(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / name).symlink_to(victim)
    with pytest.raises(ClearheadError):
        Index.build(tmp_path / "index", [Passage("x")], lambda texts: np.ones((1, WIDTH)), model="m")
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("name", FILES)
def test_an_addition_never_writes_through_a_link(folder: Path, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes((folder / name).read_bytes() + b"precious")
    before = victim.read_bytes()
    index = Index.load(folder)
    (folder / name).unlink()
    (folder / name).symlink_to(victim)
    with pytest.raises(ClearheadError):
        index.add([Passage("new")], lambda texts: np.ones((len(texts), WIDTH)))
    assert victim.read_bytes() == before


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_shrinks_after_loading_is_noticed(folder: Path, name: str) -> None:
    index = Index.load(folder)
    os.truncate(folder / name, 5)
    with pytest.raises(WeightsError):
        index.search(np.ones(WIDTH), N_PASSAGES)
    (folder / name).unlink()
    with pytest.raises(WeightsError):
        index.search(np.ones(WIDTH), N_PASSAGES)


def test_giant_claims_cost_no_memory(folder: Path) -> None:
    count = 2**28
    manifest(count=count, passage_bytes=2**50)(folder)
    for name, size in (("vectors.f32", 4 * WIDTH * count), ("offsets.i64", 8 * count), ("passages.jsonl", 2**40)):
        os.truncate(folder / name, size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(WeightsError, match="shorter than it says"):
        use(folder)
    manifest(passage_bytes=2**40)(folder)
    with pytest.raises(WeightsError, match="run backwards"):
        use(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_paths_are_shown_and_never_opened(tmp_path: Path) -> None:
    passage = Passage("x", "../../etc/passwd", 1)
    index = Index.build(tmp_path / "index", [passage], lambda texts: np.ones((1, WIDTH)), model="m")
    assert index.search(np.ones(WIDTH))[0].path == "../../etc/passwd"
