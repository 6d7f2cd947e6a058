"""`clearhead complete`: as it comes, or by line."""

import io
import sys
from pathlib import Path

import pytest

from clearhead.cli import main

from .tiny_folders import CONTEXT, Run

SHORT = ("--max-new-tokens", 8)


def test_the_text_comes_first_and_a_line_break_last(run: Run, folders: Path) -> None:
    ran = run("complete", "-m", folders / "gpt2", "hi", *SHORT, "--temperature", 0)
    assert ran.code == 0
    assert ran.out.startswith("hi")
    assert ran.out.endswith("\n")
    assert len(ran.out) > len("hi\n")


def test_an_encoder_decoder_writes_another_text(run: Run, folders: Path) -> None:
    ran = run("complete", "-m", folders / "marian", "hi", *SHORT)
    assert ran.code == 0
    assert not ran.out.startswith("hi")


def test_a_seed_makes_the_same_text_however_it_is_asked_for(run: Run, folders: Path) -> None:
    given = ("complete", "-m", folders / "gpt2", *SHORT, "--seed", 3)
    streamed = run(*given, "hi").out
    assert run(*given, "hi").out == streamed
    records = run(*given, "--json", "there", "hi").records
    assert "hi" + records[1]["completions"][0]["text"] == streamed.removesuffix("\n")
    assert run("complete", "-m", folders / "gpt2", *SHORT, "--seed", 4, "hi").out != streamed


def test_json_says_scores_tokens_and_why_it_ended(run: Run, folders: Path) -> None:
    ran = run("complete", "-m", folders / "gpt2", *SHORT, "--seed", 3, "--json", "--nbest", 3, "hi", "")
    assert [record["text"] for record in ran.records] == ["hi", ""]
    for record in ran.records:
        assert len({one["text"] for one in record["completions"]}) == 3
        for one in record["completions"]:
            assert one["score"] < 0
            assert 1 <= len(one["tokens"]) <= 8
            assert one["finish"] in ("end", "length")


def test_beams(run: Run, folders: Path) -> None:
    given = ("complete", "-m", folders / "gpt2", *SHORT, "--beams", 3, "hi")
    best, several = run(*given).lines, run(*given, "--nbest", 2).lines
    assert len(several) == 2
    assert several[:1] == best


def test_stop(run: Run, folders: Path) -> None:
    given = ("complete", "-m", folders / "gpt2", *SHORT, "--temperature", 0, "hi")
    whole = run(*given).out.removesuffix("\n")
    assert run(*given, "--stop", whole[3]).out == whole[: whole.index(whole[3], 2)] + "\n"


def test_several_texts_in_a_pipe_are_a_line_each(run: Run, folders: Path) -> None:
    ran = run("complete", "-m", folders / "gpt2", "--max-new-tokens", 30, "--seed", 1, stdin=b"one\ntwo\n\nthree\n")
    assert [line[:3] for line in ran.lines if line[:3] in ("one", "two", "thr")] == ["one", "two", "thr"]
    assert len(ran.lines) == 4


def test_what_cannot_be_done_leaves_nothing_on_standard_output(run: Run, folders: Path) -> None:
    for arguments in (["hi", "--max-new-tokens", CONTEXT], ["hi" * CONTEXT]):
        ran = run("complete", "-m", folders / "gpt2", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert "--overflow slide" in ran.err


def test_a_text_may_slide_through_the_context(run: Run, folders: Path) -> None:
    ran = run("complete", "-m", folders / "gpt2", "hi" * CONTEXT, *SHORT, "--overflow", "slide")
    assert ran.code == 0
    assert ran.out.startswith("hi" * CONTEXT)


class Impatient(io.StringIO):
    """A standard output whose reader presses Ctrl-C when something has been written."""

    pressed = False

    def write(self, text: str) -> int:
        if self.tell() > len("hi") and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt
        return super().write(text)


@pytest.mark.parametrize("more", [[], ["--beams", "2"]])
def test_an_interrupt_ends_the_line_and_says_so(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Impatient())
    with pytest.raises(SystemExit) as caught:
        main(["complete", "-m", str(folders / "gpt2"), "hi", *([] if not more else ["hi", *more])])
    assert caught.value.code == 130
    assert sys.stdout.getvalue().startswith("hi")
    assert sys.stdout.getvalue().endswith("\n")
    said = "the one finished line is kept" if more else ""
    assert capsys.readouterr().err.strip().endswith(f"clearhead: stopped{f'; {said}' if said else ''}")
