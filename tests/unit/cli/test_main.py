"""The command line itself: quick to start, quiet when left, clear when it fails."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import typer

import clearhead
from clearhead.cli import main, verbs
from clearhead.errors import TextError

MOST_SECONDS = 0.5
TRIES = 10
PROGRAM = [sys.executable, "-m", "clearhead"]


def leave(*arguments: str) -> int:
    """The exit code of a run in this process."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


@pytest.fixture
def boom(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A verb `boom` that raises what a test puts there."""
    chosen = SimpleNamespace(error=None)
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    def explode() -> None:
        raise chosen.error

    monkeypatch.setattr(verbs, "VERBS", {**verbs.VERBS, "boom": "Fail."})
    monkeypatch.setitem(sys.modules, "clearhead.cli.boom", SimpleNamespace(app=app))
    return chosen


def test_help_is_fast() -> None:
    def seconds() -> float:
        start = time.perf_counter()
        subprocess.run([*PROGRAM, "--help"], capture_output=True, check=True)
        return time.perf_counter() - start

    # A busy machine slows some runs; a slow import slows them all.
    taken = [seconds()]
    while min(taken) >= MOST_SECONDS and len(taken) < TRIES:
        taken.append(seconds())
    assert min(taken) < MOST_SECONDS


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [], ["tokenise"]])
def test_nothing_heavy_and_no_verb_is_imported(arguments: list[str]) -> None:
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('LOADED', *sys.modules))\n"
        f"from clearhead.cli import main; main({arguments!r})"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout
    loaded = output.rpartition("LOADED")[2].split()
    assert "clearhead.cli.verbs" in loaded
    heavy = {"torch", "numpy", "rich", "tokenizers", "sklearn", "gensim", "ray", "pyarrow", "clearhead.cli.tokenizer"}
    heavy |= {"clearhead.text", "clearhead.corpora"}
    assert heavy & {*loaded, *(name.partition(".")[0] for name in loaded)} == set()


def test_help_lists_every_verb() -> None:
    result = subprocess.run([*PROGRAM, "--help"], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert all(name in result.stdout and text in result.stdout for name, text in verbs.VERBS.items())
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("name", verbs.VERBS)
def test_every_verb_in_the_list_exists(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave(name, "--help") == 0
    assert f"Usage: clearhead {name}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert leave("--version") == 0
    assert capsys.readouterr().out == f"clearhead {clearhead.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Usage: clearhead"),
        (["tokenizor"], "Did you mean 'tokenizer'?"),
        (["--colour"], "No such option"),
        (["tokenizer", "train"], "Missing argument 'FILE'"),
        (["tokenizer", "show", "x"], "--tokenizer"),
    ],
)
def test_wrong_usage_exits_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave(*arguments) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_our_errors_exit_1_without_a_traceback(boom: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    boom.error = TextError("a bad thing", got="this", expected="that", advice="the other")
    assert leave("boom") == 1
    out, err = capsys.readouterr()
    assert err == "clearhead: a bad thing\n  got:      this\n  expected: that\n  try:      the other\n"
    assert out == ""


def test_our_own_mistakes_do_not_look_like_the_users(boom: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    boom.error = ZeroDivisionError("oops")
    assert leave("boom") == 1
    err = capsys.readouterr().err
    assert "a mistake in clearhead itself" in err
    assert "ZeroDivisionError: oops" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--debug", "boom"], ["boom", "--debug"]])
@pytest.mark.parametrize("error", [TextError("a bad thing"), ZeroDivisionError("oops")])
def test_debug_shows_the_traceback(
    boom: SimpleNamespace, capsys: pytest.CaptureFixture[str], arguments: list[str], error: Exception
) -> None:
    boom.error = error
    assert leave(*arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert "in explode" in err


def test_debug_after_two_dashes_is_text(boom: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    boom.error = AssertionError
    assert leave("boom", "--", "--debug") == 2
    assert "unexpected extra argument" in capsys.readouterr().err


def test_an_interrupt_is_quiet(boom: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    boom.error = KeyboardInterrupt()
    assert leave("boom") == 130
    assert "Traceback" not in capsys.readouterr().err
