"""`clearhead tokenizer`: files in, a folder out; text in, pieces out."""

import gzip
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clearhead.cli import main
from clearhead.text import Tokenizer

TEXT = "the cat sat on the mat\nthe dog sat on the log\n"
PROGRAM = [sys.executable, "-m", "clearhead"]


def leave(*arguments: object) -> int:
    """The exit code of a run in this process."""
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    return int(caught.value.code or 0)


def type_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def folder(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert leave("tokenizer", "train", corpus, "--kind", "word", "--out", tmp_path / "word") == 0
    capsys.readouterr()
    return tmp_path / "word"


def test_training_says_what_it_wrote(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new"
    assert leave("tokenizer", "train", corpus, "--vocab-size", 270, "--out", out) == 0
    assert capsys.readouterr() == (f"wrote {out / 'tokenizer.json'}: bpe, 270 pieces\n", "")
    assert Tokenizer.load(out).vocab_size == 270


def test_a_vocabulary_larger_than_the_text_is_reported(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert leave("tokenizer", "train", corpus, "--kind", "word", "--out", tmp_path) == 0
    out = capsys.readouterr().out
    assert "word, 12 pieces" in out
    assert "no more than that (8000 were asked for)" in out


def test_files_zipped_files_and_standard_input_are_one_corpus(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped = tmp_path / "more.txt.gz"
    zipped.write_bytes(gzip.compress(b"zipped\n", mtime=0))
    type_in(monkeypatch, b"TYPED\n")
    assert leave("tokenizer", "train", corpus, zipped, "-", "--kind", "word", "--lowercase", "--out", tmp_path) == 0
    tokenizer = Tokenizer.load(tmp_path)
    assert tokenizer.special.unknown not in tokenizer.encode("Cat zipped typed").ids


def test_characters_know_the_line_end(corpus: Path, tmp_path: Path) -> None:
    assert leave("tokenizer", "train", corpus, "--kind", "character", "--out", tmp_path) == 0
    tokenizer = Tokenizer.load(tmp_path)
    assert tokenizer.decode(tokenizer.encode(TEXT).ids) == TEXT


def test_show_as_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave("tokenizer", "show", "the cat", "漢 log\x1b", "--tokenizer", folder) == 0
    assert capsys.readouterr().out == (
        "piece  id  from  to  text\n"
        "the     5     0   3  the\n"
        "cat     8     4   7  cat\n"
        "\n"
        "piece  id  from  to  text\n"
        "<unk>   1     0   1  漢\n"
        "log    10     2   5  log\n"
        "<unk>   1     5   6  \\x1b\n"
    )


def test_wide_letters_stay_in_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("漢字 ok\n", encoding="utf-8")
    assert leave("tokenizer", "train", corpus, "--kind", "word", "--out", tmp_path) == 0
    capsys.readouterr()
    assert leave("tokenizer", "show", "漢字 ok", "--tokenizer", tmp_path) == 0
    _, wide, narrow = capsys.readouterr().out.splitlines()
    assert wide.startswith("漢字   ")
    assert narrow.startswith("ok     ")


def test_show_as_json_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "the cat\nआप\n".encode())
    assert leave("tokenizer", "show", "--json", "--tokenizer", folder / "tokenizer.json") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert json.loads(first) == {
        "text": "the cat",
        "pieces": ["the", "cat"],
        "ids": [5, 8],
        "offsets": [[0, 3], [4, 7]],
        "special": [False, False],
    }
    assert '"text": "आप"' in second


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"fine\nna\xefve\n", "corpus.txt, line 2: byte 0xef"),
        (b"", "nothing to learn from"),
        (None, "does not exist"),
    ],
)
def test_a_corpus_that_cannot_be_read(
    tmp_path: Path, content: bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "corpus.txt"
    if content is not None:
        path.write_bytes(content)
    assert leave("tokenizer", "train", path, "--out", tmp_path / "out") == 1
    out, err = capsys.readouterr()
    assert err.startswith("clearhead: ")
    assert message in err
    assert out == ""
    assert not (tmp_path / "out").exists()


def test_an_unknown_kind_is_wrong_usage(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave("tokenizer", "train", corpus, "--kind", "bpee", "--out", tmp_path) == 2
    assert "'wordpiece'" in capsys.readouterr().err


def test_a_missing_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave("tokenizer", "show", "x", "--tokenizer", tmp_path) == 1
    error = capsys.readouterr().err
    assert str(tmp_path) in error
    assert "tokenizer.json" in error


def test_an_argument_that_is_not_utf8(folder: Path) -> None:
    command = [*PROGRAM, "tokenizer", "show", b"\xff", "--tokenizer", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "surrogate" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_reader_that_leaves_early_is_no_failure(folder: Path) -> None:
    command = [*PROGRAM, "tokenizer", "show", "--json", "--tokenizer", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b"the cat\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        process.stdin.write(b"the cat\n" * 100)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_output_is_utf8_whatever_the_locale(folder: Path) -> None:
    result = subprocess.run(
        [*PROGRAM, "tokenizer", "show", "--json", "--tokenizer", str(folder)],
        input="आप\n".encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert '"आप"' in result.stdout.decode("utf-8")


@pytest.mark.parametrize("no_color", [None, "1"])
def test_progress_is_shown_on_a_terminal_only(corpus: Path, tmp_path: Path, no_color: str | None) -> None:
    theirs, ours = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    environment |= {"TERM": "xterm-256color"} | ({"NO_COLOR": no_color} if no_color else {})
    result = subprocess.run(
        [*PROGRAM, "tokenizer", "train", str(corpus), "--kind", "word", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=ours,
        text=True,
        check=True,
        env=environment,
    )
    os.close(ours)
    seen = os.read(theirs, 100_000).decode()
    os.close(theirs)
    assert "learning word pieces" in seen
    assert (re.search(r"\x1b\[[0-9;]*3[0-8]", seen) is None) is (no_color is not None)
    assert result.stdout.startswith("wrote ")
    assert "\x1b" not in result.stdout
