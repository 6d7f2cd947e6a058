"""`clearhead search`: an index for once, one that stays, one that grows."""

import io
import sys
from pathlib import Path

import pytest

from .tiny_folders import Run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sat on the mat\nparis is in france\nwho is play\x1b[31ming\n")
    return path


def test_a_file_of_lines(run: Run, folders: Path, corpus: Path) -> None:
    ran = run("search", "-m", folders / "bert", "paris is in france", "--in", corpus, "--top", 2)
    assert (ran.code, len(ran.lines)) == (0, 2)
    assert ran.lines[0] == f"1.000  {corpus}:2  paris is in france"


def test_json(run: Run, folders: Path, corpus: Path) -> None:
    ran = run("search", "-m", folders / "bert", "--in", corpus, "--json", stdin=b"the cat\n\nwho\n")
    assert [record["query"] for record in ran.records] == ["the cat", "", "who"]
    assert [len(record["hits"]) for record in ran.records] == [3, 0, 3]
    for hit in ran.records[0]["hits"]:
        assert corpus.read_text().splitlines()[hit["line"] - 1] == hit["passage"]
        assert hit["path"] == str(corpus)
    scores = [hit["score"] for hit in ran.records[0]["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_a_passage_cannot_command_the_terminal(run: Run, folders: Path, corpus: Path) -> None:
    ran = run("search", "-m", folders / "bert", "x", "--in", corpus)
    assert "play␛[31ming" in ran.out
    assert "\x1b" not in ran.out


def test_an_index_is_kept_used_again_and_added_to(run: Run, folders: Path, corpus: Path, tmp_path: Path) -> None:
    given = ("search", "-m", folders / "bert", "the cat", "--index", tmp_path / "kept")
    built = run(*given, "--in", corpus)
    assert built.err == f"{tmp_path / 'kept'}: 3 passages\n"
    assert run(*given) == (0, built.out, "")
    corpus.write_text("a new line\n")
    again = run(*given, "--in", corpus)
    assert again.out == built.out
    assert "3 passages, as kept; --add would add those of" in again.err
    added = run(*given, "--in", corpus, "--add", "--top", 9)
    assert "4 passages" in added.err
    assert len(added.lines) == 4


def test_an_index_of_another_model_is_refused(run: Run, folders: Path, corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "kept"
    assert run("search", "-m", folders / "bert", "x", "--index", index, "--in", corpus).code == 0
    ran = run("search", "-m", folders / "bert-masks", "x", "--index", index)
    assert (ran.code, ran.out) == (1, "")
    assert "an index made by another model" in ran.err
    assert str(folders / "bert") in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "nothing to search"),
        (["--add", "--in", "corpus"], 2, "needs both --in PATH and --index FOLDER"),
        (["--add", "--index", "kept"], 2, "needs both --in PATH and --index FOLDER"),
        (["--in", "nowhere.txt"], 1, "nowhere.txt"),
        (["--index", "nowhere"], 1, "nowhere"),
    ],
)
def test_what_cannot_be_searched(run: Run, folders: Path, arguments: list[str], code: int, message: str) -> None:
    ran = run("search", "-m", folders / "bert", "x", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err


def test_what_is_passed_over_is_said(run: Run, folders: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("the cat\n")
    (folder / "b.txt").write_bytes(b"\x00\xff\xfe binary")
    ran = run("search", "-m", folders / "bert", "x", "--in", folder)
    assert (ran.code, len(ran.lines)) == (0, 1)
    assert f"{folder}: passed over 1: " in ran.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_passages_are_counted_as_they_are_read(
    run: Run, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "many.txt").write_text("the cat sat\n" * 2500)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", bar := Terminal())
    assert run("search", "-m", folders / "bert", "x", "--in", tmp_path / "many.txt").code == 0
    assert "passages read: 2500" in bar.getvalue()
