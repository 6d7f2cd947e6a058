"""The command line against bad input, bad places, impatient users and readers that leave."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clearhead.cli import main
from clearhead.weights import locate

from ..unit.cli.tiny_folders import CONTEXT, Ran, Run, make_folders, make_run

PROGRAM = [sys.executable, "-m", "clearhead"]
N_LINES = 20_000
PATIENCE = 120
LONG_LINE = "the cat sat on the mat. " * (2**20 // 24 + 1)

Refused = Callable[..., str]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folders(tmp_path_factory.mktemp("models"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return make_run(monkeypatch, capsys)


@pytest.fixture
def refused(run: Run, folders: Path) -> Refused:
    """A run that must fail with a code, no traceback and nothing on standard output; gives its message."""

    def check(verb: str, model: str, *arguments: object, code: int = 1, stdin: bytes = b"", kept: int = 0) -> str:
        ran = run(verb, "--model", folders / model, *arguments, stdin=stdin)
        assert ran.code == code, ran
        assert len(ran.lines) == kept
        assert "Traceback" not in ran.err
        assert "mistake in clearhead" not in ran.err
        return ran.err

    return check


@contextmanager
def started(*arguments: object) -> Generator[subprocess.Popen[str]]:
    """The program on its own, ended whatever happens."""
    command = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "long.txt"
    path.write_text("the cat sat on the mat\n" * N_LINES)
    return path


def await_content(path: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not (path.is_file() and path.stat().st_size):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_interrupt_keeps_what_is_finished_and_says_so(folders: Path, long_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    given = ("translate", "-m", folders / "polyglot", "--to", "fr", "--max-new-tokens", 4, "--json")
    with started(*given, "--file", long_file, "--out", out) as process:
        await_content(tmp_path / "out.txt.partial", process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert 0 < len(records) < N_LINES
    number = "one finished line is" if len(records) == 1 else f"{len(records)} finished lines are"
    assert errors.strip() == f"clearhead: stopped; the {number} kept in {out}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt"]


def test_a_kill_leaves_what_is_finished_beside_what_was_there(folders: Path, long_file: Path, tmp_path: Path) -> None:
    out, partial = tmp_path / "out.txt", tmp_path / "out.txt.partial"
    out.write_text("before\n")
    with started("classify", "-m", folders / "bert-labels", "--file", long_file, "--out", out) as process:
        await_content(partial, process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert out.read_text() == "before\n"
    assert partial.read_text().startswith(("good\t", "b␛"))


def test_a_reader_that_leaves_is_no_failure(folders: Path, long_file: Path) -> None:
    with started("classify", "-m", folders / "bert-labels", "--file", long_file) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "\t" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=PATIENCE) == 0
        assert process.stderr.read() == ""


def test_a_full_disk_behind_standard_output_is_said(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as caught:
            main(["classify", "-m", str(folders / "bert-labels"), "the cat"])
    assert caught.value.code == 1
    assert capsys.readouterr().err == f"clearhead: the system refuses\n  got:      [Errno 28] {os.strerror(28)}\n"


def test_closed_standard_streams(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def left(*arguments: str) -> object:
        with pytest.raises(SystemExit) as caught:
            main(["classify", "-m", str(folders / "bert-labels"), *arguments])
        return caught.value.code

    monkeypatch.setattr(sys, "stdin", None)
    assert left("the cat") == 0
    assert left() == 1
    assert "standard input is closed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", None)
    assert left("the cat") == 1
    assert "standard output is closed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "model", "can"),
    [
        ("translate", "bert", "this is an encoder: it can embed, search, classify, summarize, answer"),
        ("complete", "bert-masks", "this is an encoder: it can fill, embed, search, classify"),
        ("summarize", "gpt2", "this is a decoder: it can complete, answer"),
        ("embed", "gpt2", "this is a decoder: it can complete, answer"),
        ("fill", "bert-labels", "this is an encoder: it can classify, embed, search"),
        ("classify", "t5", "this is an encoder-decoder: it can translate, summarize, answer, complete"),
        ("search", "t5", "this is an encoder-decoder: it can translate, summarize, answer, complete"),
        ("answer", "bert-masks", "this is an encoder: it can fill, embed, search, classify"),
    ],
)
def test_the_wrong_model_for_a_task(refused: Refused, verb: str, model: str, can: str, tmp_path: Path) -> None:
    more = ["--in", tmp_path] if verb == "search" else []
    assert can in refused(verb, model, "x", *more)


@pytest.mark.parametrize("to", [[], ["--to", "xx"], ["--to", "Klingon"]])
def test_an_unknown_language_lists_those_it_knows(refused: Refused, to: list[str]) -> None:
    assert "de (German), fr (French)" in refused("translate", "polyglot", "x", *to)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--beams", 0), ("--beams", -1), ("--beams", 10**9), ("--nbest", 0), ("--max-new-tokens", -1),
        ("--temperature", -0.5), ("--temperature", "nan"), ("--top-p", 0), ("--top-p", 1.5), ("--top-k", -1),
        ("--min-p", -1), ("--repetition-penalty", 0), ("--no-repeat-ngram", -1), ("--stop", ""), ("--seed", 2**70),
        ("--seed", "x"), ("--threads", 0), ("--threads", 10**6), ("--weights", "int3"), ("--overflow", "cut"),
    ],
)  # fmt: skip
def test_an_option_out_of_range_is_wrong_usage(refused: Refused, option: str, value: object) -> None:
    assert option in refused("complete", "gpt2", "x", option, value, code=2)


@pytest.mark.parametrize(
    "options", [("--beams", 2, "--nbest", 3), ("--beams", 2, "--stop", "x"), ("--beams", 2, "--temperature", 0.5)]
)
def test_options_that_exclude_each_other_are_wrong_usage(refused: Refused, options: tuple[object, ...]) -> None:
    assert "--beams" in refused("complete", "gpt2", "x", *options, code=2)


def test_wrong_usage_is_said_before_the_model_is_loaded(run: Run) -> None:
    assert run("translate", "-m", "no/such/model", "x", "--beams", 0).code == 2


def test_bytes_that_are_no_text_cost_nothing_before_them(refused: Refused, folders: Path, tmp_path: Path) -> None:
    content = b"the cat\n" * 20 + b"the \xff mat\n" + b"the mat\n"
    message = refused("classify", "bert-labels", stdin=content, kept=20)
    assert "standard input, line 21: byte 0xff" in message
    (tmp_path / "in.txt").write_bytes(content)
    out = tmp_path / "out.txt"
    message = refused("classify", "bert-labels", "--file", tmp_path / "in.txt", "--out", out)
    assert f"the 20 finished lines are kept in {out}" in message
    assert len(out.read_text().splitlines()) == 20


def test_an_argument_that_is_no_text(refused: Refused) -> None:
    assert "U+DCFF" in refused("classify", "bert-labels", os.fsdecode(b"caf\xff"))


def test_a_line_that_fails_is_named_and_costs_nothing_before_it(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("the cat\n" * 9 + "the cat " * CONTEXT + "\nthe mat\n")
    message = refused("classify", "bert-labels", "--file", path, kept=9)
    assert f"{path}, line 10: a text is longer than the model's context" in message


@pytest.mark.parametrize(
    ("verb", "model", "more"),
    [
        ("embed", "bert", ["--truncate"]),
        ("answer", "bert-answers", ["--passage", "the cat is in paris"]),
        ("complete", "gpt2", []),
    ],
)
def test_a_megabyte_on_one_line(run: Run, folders: Path, verb: str, model: str, more: list[str]) -> None:
    ran = run(verb, "-m", folders / model, *more, stdin=LONG_LINE.encode())
    cut = "--truncate" in more
    assert (ran.code, len(ran.lines)) == ((0, 1) if cut else (1, 0))
    assert "mistake in clearhead" not in ran.err


@pytest.mark.parametrize("text", ["", "\t \u3000"])
@pytest.mark.parametrize(
    ("verb", "model", "message"),
    [
        ("translate", "polyglot", None),
        ("summarize", "t5", None),
        ("complete", "gpt2", None),
        ("classify", "bert-labels", None),
        ("embed", "bert", None),
        ("fill", "bert-masks", "without a gap"),
        ("answer", "gpt2", "an empty question"),
    ],
)
def test_nothing_but_spaces(run: Run, folders: Path, verb: str, model: str, message: str | None, text: str) -> None:
    more = {"translate": ["--to", "fr"], "complete": ["--max-new-tokens", 2, "--seed", 1]}.get(verb, [])
    ran = run(verb, "-m", folders / model, text, *more)
    assert ran.code == (0 if message is None else 1)
    assert (message or "") in ran.err
    assert "mistake in clearhead" not in ran.err
    assert (ran.out == "") is (message is not None)
    if verb in ("translate", "summarize"):
        assert ran.out == text + "\n"


def test_files_that_are_not_there(refused: Refused, tmp_path: Path) -> None:
    assert "does not exist" in refused("classify", "bert-labels", "--file", tmp_path / "none.txt")
    assert "a folder where a file is needed" in refused("classify", "bert-labels", "--file", tmp_path)
    assert "does not exist" in refused("classify", "bert-labels", "x", "--out", tmp_path / "none" / "out.txt")
    assert "a folder where a file is needed" in refused("classify", "bert-labels", "x", "--out", tmp_path)
    assert "does not exist" in refused("answer", "bert-answers", "who", "--in", tmp_path / "none.txt")
    (tmp_path / "bad.gz").write_bytes(b"not zipped")
    assert "cannot be unzipped" in refused("classify", "bert-labels", "--file", tmp_path / "bad.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.gz"]


@pytest.mark.parametrize("name", ["same.txt", "./same.txt", "link.txt"])
def test_the_file_that_is_read_is_not_written(refused: Refused, tmp_path: Path, name: str) -> None:
    path = tmp_path / "same.txt"
    path.write_text("the cat\n")
    (tmp_path / "link.txt").symlink_to(path)
    message = refused("classify", "bert-labels", "--file", path, "--out", tmp_path / name, code=2)
    assert "is the file that is read" in message
    assert path.read_text() == "the cat\n"


def test_texts_and_a_file_exclude_each_other(refused: Refused, tmp_path: Path) -> None:
    assert "exclude each other" in refused("classify", "bert-labels", "x", "--file", tmp_path, code=2)


def test_a_failure_at_once_leaves_the_former_results(refused: Refused, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("before\n")
    refused("classify", "bert-labels", "the cat " * CONTEXT, "--out", out)
    assert out.read_text() == "before\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.safetensors", b"", "cut off"),
        ("config.json", b"{", "config.json"),
        ("tokenizer.json", b"[]", "tokenizer.json"),
        ("tokenizer.json", None, "no tokenizer"),
        ("model.safetensors", None, "weights"),
    ],
)
def test_a_damaged_model(
    run: Run, folders: Path, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(folders / "gpt2", folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    ran = run("complete", "-m", folder, "x")
    assert (ran.code, ran.out) == (1, "")
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert "mistake in clearhead" not in ran.err


def test_no_model_named_and_none_embedded(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(locate, "PRETRAINED", tmp_path)
    ran: Ran = run("translate", "x")
    assert (ran.code, ran.out) == (1, "")
    assert "no model was named" in ran.err
    assert "--model FOLDER" in ran.err


def test_a_path_cannot_command_the_terminal(run: Run, folders: Path, tmp_path: Path) -> None:
    for arguments in (["-m", tmp_path / "\x1b[2Jmodel"], ["-m", folders / "gpt2", "--file", "\x1b]0;title\x07.txt"]):
        ran = run("complete", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert "\x1b" not in ran.err
