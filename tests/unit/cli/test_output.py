"""Where results go: whole files, lines that stay lines, JSON that is JSON."""

import io
import json
import os
import resource
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from clearhead.cli.harmless import harmless
from clearhead.cli.output import Outcome, kept, lines_out
from clearhead.errors import TextError


class Terminal(io.StringIO):
    """A standard output that somebody looks at."""

    def isatty(self) -> bool:
        return True


def outcome(*lines: str, **fields: object) -> Outcome:
    return Outcome(lines=lines, fields=dict(fields))


@contextmanager
def at_most(n_bytes: int) -> Generator[None]:
    """Files that cannot grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_much(path: Path) -> None:
    with lines_out(path, as_json=False) as output:
        for number in range(10_000):
            output.write("x", outcome(f"line {number}"))


def test_a_line_stays_a_line_whatever_the_model_writes(capsys: pytest.CaptureFixture[str]) -> None:
    with lines_out(None, as_json=False) as output:
        output.write("one line", outcome("a \r\n b\n\nc", "d"))
        output.write("two\nlines", outcome("a\nb"))
    assert capsys.readouterr().out == "a b c\nd\na\nb\n"
    assert output.n_written == 2


def test_json_has_no_numbers_that_it_cannot_spell(capsys: pytest.CaptureFixture[str]) -> None:
    with lines_out(None, as_json=True) as output:
        output.write("", outcome(score=float("-inf"), each=[float("nan"), 1.5, ("é", 2)], line="a\nb"))
    assert json.loads(capsys.readouterr().out) == {"score": None, "each": [None, 1.5, ["é", 2]], "line": "a\nb"}


def test_a_terminal_is_told_nothing_that_it_would_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    with lines_out(None, as_json=False) as output:
        output.write("x", outcome("\x1b[2Jred\ttab\x07\x9b"))
    assert terminal.getvalue() == "␛[2Jred\ttab␇\ufffd\n"


def test_a_pipe_is_told_everything(capsys: pytest.CaptureFixture[str]) -> None:
    with lines_out(None, as_json=False) as output:
        output.write("x", outcome("\x1b[2Jred"))
    assert capsys.readouterr().out == "\x1b[2Jred\n"


def test_harmless_leaves_ordinary_text_alone() -> None:
    text = "tab\tline\nnaïve 日本 😀"
    assert harmless(text) == text


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before\n")
    path.chmod(0o640)
    with lines_out(path, as_json=False) as output:
        output.write("x", outcome("naïve"))
        output.flush()
        assert path.read_text() == "before\n"
        assert (tmp_path / "out.txt.partial").read_text(encoding="utf-8") == "naïve\n"
    assert path.read_text(encoding="utf-8") == "naïve\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.txt"]  # noqa: PTH208


@pytest.mark.parametrize("error", [KeyboardInterrupt, TextError("bad")])
def test_what_was_finished_is_kept(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before\n")
    with suppress(KeyboardInterrupt, TextError), lines_out(path, as_json=False) as output:
        output.write("x", outcome("finished"))
        raise error
    assert path.read_text() == "finished\n"


def test_where_nothing_was_finished_the_former_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before\n")
    with pytest.raises(KeyboardInterrupt), lines_out(path, as_json=False):
        raise KeyboardInterrupt
    assert path.read_text() == "before\n"
    assert os.listdir(tmp_path) == ["out.txt"]  # noqa: PTH208


def test_a_full_disk_is_said_and_costs_nothing_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before\n")
    with pytest.raises(TextError, match="cannot be written") as caught, at_most(4096):
        write_much(path)
    assert str(tmp_path / "out.txt.partial") in str(caught.value)
    assert path.read_text() == "before\n"
    assert (tmp_path / "out.txt.partial").read_text().startswith("line 0\nline 1\n")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "elsewhere" / "out.txt")
    with kept(tmp_path / "link.txt") as stream:
        stream.write(b"x")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "elsewhere" / "out.txt").read_bytes() == b"x"


def test_a_pipe_with_a_name_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with lines_out(tmp_path / "pipe", as_json=False) as output:
            output.write("x", outcome("through"))
        assert os.read(reader, 100) == b"through\n"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("name", "problem"),
    [("", "a folder where a file is needed"), ("none/out.txt", "a folder that does not exist")],
)
def test_a_place_where_no_file_can_be(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(TextError, match=problem), kept(tmp_path / name):
        pass
