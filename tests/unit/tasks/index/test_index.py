"""An index is built, found again, added to and searched."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import ClearheadError, ShapeMismatch, TextError, WeightsError
from clearhead.tasks.index import Hit, Index, Passage
from clearhead.tasks.index.append import locked

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = ["the cat sat", "a dog ran", "birds fly", "fish swim", "the cat ran"]
PASSAGES = [Passage(text, "animals.txt", line) for line, text in enumerate(TEXTS, 1)]


def embed(texts: Sequence[str]) -> np.ndarray:
    """A vector that a reader can check: how often each letter occurs."""
    return np.array([[text.count(letter) for letter in LETTERS] for text in texts], np.float32)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index.build(tmp_path / "index", PASSAGES, embed, model="letters")


def lines(hits: list[Hit]) -> list[int]:
    return [hit.line for hit in hits]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_hit_has_passage_path_line_and_cosine(index: Index) -> None:
    best, second = index.search(embed(["the cat sat"])[0], 2)
    assert best == Hit(pytest.approx(1), "the cat sat", "animals.txt", 1)
    a, b = embed(["the cat sat", "the cat ran"])
    assert second == Hit(pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), "the cat ran", "animals.txt", 5)


def test_a_loaded_index_finds_the_same(index: Index) -> None:
    loaded = Index.load(index.folder)
    query_D = embed(["swimming fish"])[0]
    assert loaded.search(query_D, 5) == index.search(query_D, 5)
    assert (len(loaded), loaded.width, loaded.model) == (5, 26, "letters")


def test_many_queries_are_a_loop(index: Index) -> None:
    query_QD = embed(["cat", "bird", "zoo"])
    assert index.search_many(query_QD, 3) == [index.search(query_D, 3) for query_D in query_QD]


def test_no_more_hits_than_passages(index: Index) -> None:
    assert sorted(lines(index.search(embed(["cat"])[0], 100))) == [1, 2, 3, 4, 5]


def test_added_passages_are_found(index: Index) -> None:
    assert index.add([Passage("zebras graze", "more.txt", 1), Passage("naïve 漢字 😀\n", "ü.txt", 7)], embed) == 2
    assert len(index) == 7
    for one in (index, Index.load(index.folder)):
        assert one.search(embed(["zebras graze"])[0], 1) == [Hit(pytest.approx(1), "zebras graze", "more.txt", 1)]
        assert one.search(embed(["nave"])[0], 1)[0][1:] == ("naïve 漢字 😀\n", "ü.txt", 7)


def test_building_in_parts_is_building_at_once(index: Index, tmp_path: Path) -> None:
    parts = Index.build(tmp_path / "parts", PASSAGES[:2], embed, model="letters")
    assert parts.add(PASSAGES[2:], embed) == 3
    assert contents(parts.folder) == contents(index.folder)


def test_adding_nothing_changes_nothing(index: Index) -> None:
    before = contents(index.folder)
    assert index.add([], embed) == 0
    assert contents(index.folder) == before


def test_passages_are_taken_in_chunks(tmp_path: Path) -> None:
    sizes: list[int] = []

    def counting(texts: Sequence[str]) -> np.ndarray:
        sizes.append(len(texts))
        return embed(texts)

    many = (Passage(f"{LETTERS[row % 26] * (row // 26 + 1)} tail", "x", row) for row in range(2500))
    index = Index.build(tmp_path / "index", many, counting, model="letters")
    assert sizes == [1024, 1024, 452]
    assert lines(index.search(embed(["c" * 50 + " tail"])[0], 1)) == [49 * 26 + 2]


def test_an_empty_vector_is_like_nothing(tmp_path: Path) -> None:
    index = Index.build(tmp_path / "index", [Passage("123"), Passage("abc")], embed, model="letters")
    assert [hit.score for hit in index.search(embed(["abc"])[0])] == [pytest.approx(1), 0]
    assert [hit.score for hit in index.search(embed(["456"])[0])] == [0, 0]


def test_another_model_is_refused(index: Index) -> None:
    index.require("letters")
    with pytest.raises(WeightsError, match="another model"):
        index.require("syllables")
    with pytest.raises(ShapeMismatch, match=r"\(1, 27\)"):
        index.search(np.ones(27, np.float32))
    with pytest.raises(ShapeMismatch):
        index.add([Passage("x")], lambda texts: np.ones((len(texts), 3), np.float32))
    assert len(Index.load(index.folder)) == 5


@pytest.mark.parametrize("n", [0, -1, 10**9])
def test_an_impossible_number_of_hits_is_refused(index: Index, n: int) -> None:
    with pytest.raises(TextError, match="number of hits"):
        index.search(embed(["cat"])[0], n)


def failing(texts: Sequence[str]) -> np.ndarray:
    if any("bad" in text for text in texts):
        raise RuntimeError("the model broke")
    return embed(texts)


MANY = [Passage(f"good {row}") for row in range(1500)]
FAILURES = {
    "the model breaks": (RuntimeError, [*MANY, Passage("bad")], failing),
    "the vectors hold NaN": (WeightsError, MANY, lambda texts: embed(texts) / np.float32(len(texts) == 1024)),
    "the vectors are too few": (ShapeMismatch, MANY, lambda texts: embed(texts[:1024])[: min(len(texts), 475)]),
    "half a character": (TextError, [*MANY, Passage("\ud83d")], embed),
    "a giant passage": (TextError, [*MANY, Passage("x" * 2**20)], embed),
    "a line before the first": (TextError, [*MANY, Passage("x", "x", -1)], embed),
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("case", FAILURES)
def test_an_addition_that_fails_leaves_the_index_as_it_was(index: Index, case: str) -> None:
    error, passages, make = FAILURES[case]
    before = contents(index.folder)
    with pytest.raises(error):
        index.add(passages, make)
    assert contents(index.folder) == before
    assert len(index) == 5


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("case", FAILURES)
def test_a_build_that_fails_leaves_nothing(tmp_path: Path, case: str) -> None:
    error, passages, make = FAILURES[case]
    with pytest.raises(error):
        Index.build(tmp_path / "index", passages, make, model="letters")
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, sys, numpy as np
from clearhead.tasks.index import Index, Passage
calls = 0
def embed(texts):
    global calls
    calls += 1
    if calls == 3:
        os.kill(os.getpid(), 9)
    return np.ones((len(texts), 26), np.float32)
passages = [Passage("lost", "lost.txt", 1)] * 3000
if sys.argv[1] == "add":
    Index.load(sys.argv[2]).add(passages, embed)
else:
    Index.build(sys.argv[2], passages, embed, model="letters")
"""


def test_a_process_killed_while_it_adds_leaves_the_index_whole(index: Index) -> None:
    before = contents(index.folder)
    result = subprocess.run([sys.executable, "-c", KILLED, "add", str(index.folder)], check=False)
    assert result.returncode == -9
    after = contents(index.folder)
    assert all(after[name].startswith(content) for name, content in before.items())
    assert len(after["vectors.f32"]) > len(before["vectors.f32"])
    survivor = Index.load(index.folder)
    assert lines(survivor.search(embed(["birds fly"])[0], 1)) == [3]
    assert survivor.add([Passage("zebras", "z", 9)], embed) == 1
    assert len((index.folder / "vectors.f32").read_bytes()) == 6 * 26 * 4
    assert lines(Index.load(index.folder).search(embed(["zebras"])[0], 6))[0] == 9


def test_a_build_that_was_killed_can_be_done_again(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    assert subprocess.run([sys.executable, "-c", KILLED, "build", str(folder)], check=False).returncode == -9
    assert (folder / "vectors.f32").stat().st_size > 0
    with pytest.raises(WeightsError, match="without an index"):
        Index.load(folder)
    assert len(Index.build(folder, PASSAGES, embed, model="letters")) == 5
    assert len(Index.load(folder)) == 5


def test_one_process_adds_at_a_time(index: Index) -> None:
    with locked(index.folder), pytest.raises(WeightsError, match="another process"):
        index.add(PASSAGES, embed)
    assert index.add(PASSAGES, embed) == 5


def test_what_another_added_meanwhile_is_kept(index: Index) -> None:
    Index.load(index.folder).add([Passage("zebras", "z", 9)], embed)
    index.add([Passage("quails", "q", 8)], embed)
    assert lines(index.search(embed(["zebras"])[0], 1)) == [9]
    assert lines(index.search(embed(["quails"])[0], 1)) == [8]


def test_a_place_that_is_taken_is_refused(index: Index, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    before = contents(index.folder)
    for place in (index.folder, tmp_path / "file", tmp_path / "full"):
        with pytest.raises(WeightsError, match="taken"):
            Index.build(place, PASSAGES, embed, model="letters")
    assert contents(index.folder) == before


def test_no_passages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="no passages"):
        Index.build(tmp_path / "index", [], embed, model="letters")


def test_a_model_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClearheadError, match="impossible model"):
        Index.build(tmp_path / "index", PASSAGES, embed, model="\x1b[2J")


def test_the_files_are_what_the_manifest_says(index: Index) -> None:
    manifest = json.loads((index.folder / "index.json").read_text())
    vector_KD = np.fromfile(index.folder / "vectors.f32", "<f4").reshape(manifest["count"], manifest["width"])
    assert np.allclose(np.linalg.norm(vector_KD, axis=1), 1)
    records = (index.folder / "passages.jsonl").read_bytes().splitlines(keepends=True)
    assert [json.loads(record)["text"] for record in records] == TEXTS
    ends = np.fromfile(index.folder / "offsets.i64", "<i8").tolist()
    assert ends == np.cumsum([len(record) for record in records]).tolist()
    assert manifest["passage_bytes"] == ends[-1]
