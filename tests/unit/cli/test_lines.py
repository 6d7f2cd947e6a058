"""Lines in, lines out: whatever they come from, in order, each in its place."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clearhead.cli.lines import _chunks
from clearhead.errors import TextError

from .tiny_folders import Ran, Run

TEXTS = ["the cat", "", "der Tisch", "   ", "日本 😀 ñ", "the mat on the cat", "x"]

Translate = Callable[..., Ran]


@pytest.fixture
def translate(run: Run, folders: Path) -> Translate:
    def translated(*arguments: object, stdin: bytes = b"") -> Ran:
        common = ("--model", folders / "polyglot", "--to", "fr", "--max-new-tokens", 6)
        return run("translate", *common, *arguments, stdin=stdin)

    return translated


def test_texts_lines_and_files_give_the_same(translate: Translate, tmp_path: Path) -> None:
    one_by_one = [translate(text).out for text in TEXTS if text.strip()]
    together = translate(*TEXTS)
    assert together.code == 0
    assert [line + "\n" for line in together.lines if line.strip()] == one_by_one
    assert [place for place, line in enumerate(together.lines) if not line.strip()] == [1, 3]
    content = "\n".join(TEXTS).encode()
    (tmp_path / "texts.txt").write_bytes(content.replace(b"\n", b"\r\n") + b"\n")
    (tmp_path / "texts.gz").write_bytes(gzip.compress(content))
    assert translate(stdin=content) == together
    assert translate("--file", "-", stdin=content) == together
    assert translate("--file", tmp_path / "texts.txt") == together
    assert translate("--file", tmp_path / "texts.gz") == together
    assert translate("--file", tmp_path / "texts.gz", "--out", tmp_path / "out.txt") == (0, "", "")
    assert (tmp_path / "out.txt").read_bytes().decode() == together.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "texts.gz", "texts.txt"]


def test_json_says_text_scores_and_tokens(translate: Translate) -> None:
    plain, ran = translate(*TEXTS), translate("--json", *TEXTS)
    assert [record["text"] for record in ran.records] == TEXTS
    assert [record["translation"] for record in ran.records] == plain.lines
    for record in ran.records:
        for written in (*record["alternatives"], *record["sentences"]):
            assert written["score"] < 0
            assert all(isinstance(token, str) for token in written["tokens"])
    assert ran.records[0]["alternatives"][0]["tokens"]
    assert ran.records[1]["sentences"] == []


def test_nbest_gives_so_many_lines_the_best_first(translate: Translate) -> None:
    best = translate("the cat").lines
    several = translate("the cat", "--nbest", 3).lines
    assert len(set(several)) == 3
    assert several[:1] == best
    (record,) = translate("the cat", "--nbest", 3, "--json").records
    scores = [one["score"] for one in record["alternatives"]]
    assert [one["text"] for one in record["alternatives"]] == several
    assert scores == sorted(scores, reverse=True)


def test_beams_matter(translate: Translate) -> None:
    texts = ["the cat", "der Tisch", "the mat on the cat"]
    scores = [
        [record["alternatives"][0]["score"] for record in translate("--json", "--beams", beams, *texts).records]
        for beams in (1, 8)
    ]
    assert scores[0] != scores[1]


def test_a_language_by_code_or_by_name(translate: Translate, run: Run, folders: Path) -> None:
    given = ("translate", "-m", folders / "polyglot", "the cat", "--max-new-tokens", 6, "--json")
    french = run(*given, "--to", "French")
    assert french == translate("the cat", "--json")
    assert french != run(*given, "--to", "de")


def test_a_text_with_line_breaks_keeps_them(translate: Translate) -> None:
    ran = translate("the cat\n\nthe mat")
    assert ran.out.count("\n") == 3


def test_an_empty_file_is_an_empty_file(translate: Translate, tmp_path: Path) -> None:
    (tmp_path / "in.txt").touch()
    assert translate("--file", tmp_path / "in.txt", "--out", tmp_path / "out.txt").code == 0
    assert (tmp_path / "out.txt").read_bytes() == b""
    assert translate(stdin=b"") == (0, "", "")


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_weights_and_threads(translate: Translate, weights: str) -> None:
    ran = translate("the cat", "--weights", weights, "--threads", 1)
    assert ran.code == 0
    assert len(ran.lines) == 1


def test_chunks_grow_and_keep_the_order() -> None:
    chunks = list(_chunks(iter(map(str, range(1000))), alone=False))
    assert [len(chunk) for chunk in chunks] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 233]
    assert [int(text) for chunk in chunks for text in chunk] == list(range(1000))


def test_chunks_of_somebody_who_types_are_single() -> None:
    assert list(_chunks(iter("abc"), alone=True)) == [["a"], ["b"], ["c"]]


def test_chunks_before_a_text_that_cannot_be_read_still_come() -> None:
    def texts():
        yield from "abcde"
        raise TextError("bad")

    found: list[list[str]] = []
    with pytest.raises(TextError, match="bad"):
        found.extend(_chunks(texts(), alone=False))
    assert found == [["a"], ["b", "c"], ["d", "e"]]


def test_chunks_shrink_when_they_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearhead.cli.lines._LONG_SECONDS", 0.0)
    assert {len(chunk) for chunk in _chunks(iter("abcdef"), alone=False)} == {1}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_and_none_where_results_scroll_by(
    translate: Translate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.txt").write_text("the cat\n" * 3)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", bar := Terminal())
    assert translate("--file", tmp_path / "in.txt", "--out", tmp_path / "out.txt").code == 0
    assert "translating" in bar.getvalue()
    assert "0:00:00" in bar.getvalue()
    assert "\x1b[3" not in bar.getvalue()
    monkeypatch.setattr(sys, "stderr", none := Terminal())
    monkeypatch.setattr(sys, "stdout", seen := Terminal())
    assert translate("--file", tmp_path / "in.txt").code == 0
    assert seen.getvalue() == (tmp_path / "out.txt").read_text()
    assert none.getvalue() == ""
