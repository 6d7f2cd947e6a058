"""What a run says while it runs: one live line on a terminal; in a pipe, evaluations and what matters alone."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOBase
from typing import Any, TextIO, cast


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """How a run stands after a step.

    Attributes:
        step: Steps made.
        n_steps: Of how many; None while that is being measured.
        loss: The mean loss since the last line of the log.
        tokens_per_second: Real tokens, padding not counted.
        peak_share: Share of the machine's matmul peak that went into the model; None where it was not measured.
        seconds_left: Until the run ends; None while that is not known.
    """

    step: int
    n_steps: int | None
    loss: float
    tokens_per_second: float
    peak_share: float | None = None
    seconds_left: float | None = None

    def __str__(self) -> str:
        parts = [
            f"step {self.step}" + (f"/{self.n_steps}" if self.n_steps else ""),
            f"loss {self.loss:.4f}",
            f"{self.tokens_per_second:,.0f} tokens/s",
        ]
        if self.peak_share is not None:
            parts.append(f"{self.peak_share:.0%} of peak")
        if self.seconds_left is not None:
            parts.append(f"{spell_seconds(self.seconds_left)} left")
        return " · ".join(parts)


class Progress:
    """Says nothing; what a library call uses unless told otherwise."""

    wants_peak = False

    def say(self, text: str) -> None:
        """Something that the user should know."""

    def update(self, report: StepReport) -> None:
        """A step was made."""

    def evaluated(self, step: int, metrics: Mapping[str, float], *, best: bool) -> None:
        """An evaluation was made."""

    def close(self) -> None:
        """Nothing more will come."""


class LiveProgress(Progress):
    """Says it on standard error.

    Args:
        stream: Where else.
    """

    def __init__(self, *, stream: TextIOBase | None = None) -> None:
        self._stream = stream or cast(TextIOBase, sys.stderr)
        self.wants_peak = self._stream.isatty()
        self._bar: Any = None
        self._task: Any = None

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            self._write(text)

    def update(self, report: StepReport) -> None:
        """The live line anew, on a terminal."""
        if self._stream.isatty():
            self._draw(report)

    def evaluated(self, step: int, metrics: Mapping[str, float], *, best: bool) -> None:
        """A line with the numbers of the evaluation."""
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        self.say(f"step {step}: {numbers}{' (best so far)' if best else ''}")

    def close(self) -> None:
        """Takes the live line away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, report: StepReport) -> None:
        if self._bar is None:
            from rich.console import Console  # noqa: PLC0415  (a pipe needs no bar)
            from rich.progress import BarColumn, TextColumn  # noqa: PLC0415
            from rich.progress import Progress as Bar  # noqa: PLC0415

            console = Console(file=cast(TextIO, self._stream))
            self._bar = Bar(BarColumn(), TextColumn("{task.description}"), console=console, transient=True)
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        self._bar.update(self._task, description=str(report), completed=report.step, total=report.n_steps)

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a reader that went away must not end a run
            self._stream.write(text + "\n")
            self._stream.flush()


def spell_seconds(seconds: float) -> str:
    """A duration as people say it."""
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"
