"""The log of a run: a line of JSON for every few steps and every evaluation, none of them twice."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from clearhead.errors import TextError, TrainingError
from clearhead.text.files import numbered_lines, reading, replacing

_MAX_LINE_BYTES = 2**16


class MetricsLog:
    """A file of one JSON object a line, each with its `step`.

    Args:
        path: The file.
    """

    def __init__(self, *, path: Path) -> None:
        self.path = path

    def append(self, line: Mapping[str, Any]) -> None:
        """Adds a line.

        Raises:
            TrainingError: The disk would not take it.
        """
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(dict(line), allow_nan=False) + "\n")
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def sync(self) -> None:
        """Has the disk keep all lines so far."""
        if not self.path.exists():
            return
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                os.fsync(stream.fileno())
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def cut(self, step: int) -> None:
        """Removes the lines after a step, and one that was not finished: those steps will be made again."""
        if not self.path.exists():
            return
        try:
            with replacing(self.path) as stream:
                for line in read_metrics(self.path):
                    if line["step"] <= step:
                        stream.write((json.dumps(line) + "\n").encode("utf-8"))
        except TextError as error:
            raise TrainingError("the log cannot be written", got=error.got, advice="make room on the disk") from None


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log; those that a stopped machine left unfinished are passed over."""
    with reading(path) as stream:
        for _, line in numbered_lines(stream, name=path, limit=_MAX_LINE_BYTES):
            try:
                content: object = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(content, dict) and isinstance(cast("dict[str, Any]", content).get("step"), int):
                yield cast("dict[str, Any]", content)


def _unwritable(path: Path, error: OSError) -> TrainingError:
    return TrainingError(
        "the log cannot be written",
        got=f"{path}: {error.strerror or error}",
        advice="make room and start the same command again: the run goes on from its last checkpoint",
    )
