import io

import pytest

from clearhead.training import LiveProgress
from clearhead.training.progress import StepReport, spell_seconds

REPORT = StepReport(step=3, n_steps=9, loss=1.25, tokens_per_second=12345.6, peak_share=0.5, seconds_left=75.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    n_tries = 0

    def write(self, text: str) -> int:
        self.n_tries += 1
        raise BrokenPipeError


def test_a_report_says_what_matters() -> None:
    assert str(REPORT) == "step 3/9 · loss 1.2500 · 12,346 tokens/s · 50% of peak · 1 min 15 s left"
    short = StepReport(step=3, n_steps=None, loss=1.25, tokens_per_second=1.0)
    assert str(short) == "step 3 · loss 1.2500 · 1 tokens/s"


def test_a_pipe_gets_evaluations_alone() -> None:
    stream = io.StringIO()
    progress = LiveProgress(stream=stream)
    for _ in range(5):
        progress.update(REPORT)
    progress.evaluated(3, {"loss": 0.123456, "bleu": 30.0}, best=True)
    progress.close()
    assert stream.getvalue().splitlines() == ["step 3: loss 0.1235, bleu 30 (best so far)"]
    assert (progress.wants_peak, LiveProgress(stream=Terminal()).wants_peak) == (False, True)


def test_a_terminal_gets_a_live_line() -> None:
    stream = Terminal()
    progress = LiveProgress(stream=stream)
    progress.update(REPORT)
    progress.say("a [word]")
    progress.close()
    assert "12,346 tokens/s" in stream.getvalue()
    assert "a [word]" in stream.getvalue()


def test_a_reader_that_went_away_does_not_end_the_run() -> None:
    stream = Broken()
    LiveProgress(stream=stream).say("is anybody there?")
    assert stream.n_tries == 1


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1.0, "0 s"), (59.6, "1 min 00 s"), (61.0, "1 min 01 s"), (3725.0, "1 h 02 min")]
)
def test_durations_as_people_say_them(seconds: float, text: str) -> None:
    assert spell_seconds(seconds) == text
